"""Says, before anything fails obscurely, that the layer was built for another Python version or processor than the function's."""

try:
    import pydantic_core  # noqa: F401 - the first of the layer's compiled modules
except ImportError as error:
    raise ImportError(
        "the mrtr layer was built for another Python version or processor than this function's: run sam build with PYTHON_RUNTIME and"
        " ARCHITECTURE set to the values of the template's parameters PythonRuntime and Architecture"
    ) from error
