# Annotations are evaluated as they stand: functions within tests name other functions within tests.
import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any, Generic, Optional, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from mrtr.context import Context
from mrtr.errors import InvalidSignature
from mrtr.outcomes import AcceptedElicitation, CancelledElicitation, DeclinedElicitation, ElicitationResult
from mrtr.questions import Elicit
from mrtr.signature import Argument, Parameter, Resolve, Resolver, analyse, is_async

REQUIRED = inspect.Parameter.empty
T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)


class Confirm(BaseModel):
    confirm: bool


class Nested(BaseModel):
    inner: Confirm


class Login(BaseModel):
    pin: int


def ask() -> Elicit[Confirm]:
    return Elicit("Sure?", Confirm)


def compute() -> int:
    return 1


async def compute_later() -> int:
    return 1


def resolver_of(fn: Callable[..., Any], name: str = "x") -> Resolver:
    resolver = analyse(fn).parameters[name].resolver
    assert resolver is not None
    return resolver


def kinds(parameters: dict[str, Parameter]) -> dict[str, str]:
    return {name: parameter.kind for name, parameter in parameters.items()}


# Where a parameter's value comes from


def test_plain_parameters_are_arguments_with_their_annotations_and_defaults() -> None:
    def tool(note_id: str, count: Annotated[int, "how many"] = 3, *, anything=None) -> None: ...  # type: ignore[no-untyped-def]  # noqa: ANN001

    plan = analyse(tool)
    assert plan.arguments == {
        "note_id": Argument(str, REQUIRED),
        "count": Argument(Annotated[int, "how many"], 3),
        "anything": Argument(Any, None),
    }
    assert set(plan.parameters.values()) == {Parameter("argument")}
    assert plan.fn is tool


def test_a_context_and_resolved_parameters_are_no_arguments() -> None:
    class Own(Context):
        pass

    def tool(ctx: Context, own: Own, note_id: str, sure: Annotated[Confirm, Resolve(ask)]) -> None: ...

    plan = analyse(tool)
    assert set(plan.arguments) == {"note_id"}
    assert kinds(plan.parameters) == {"ctx": "context", "own": "context", "note_id": "argument", "sure": "resolver"}


def test_an_optional_context_as_ported_code_has_it_is_a_context() -> None:
    def tool(ctx: Context | None = None) -> None: ...

    assert kinds(analyse(tool).parameters) == {"ctx": "context"}


def test_a_context_with_type_arguments_as_ported_code_has_them_is_a_context() -> None:
    def tool(ctx: Context[int, str]) -> None: ...  # type: ignore[type-arg]

    assert kinds(analyse(tool).parameters) == {"ctx": "context"}


def test_a_resolver_takes_arguments_by_name_other_resolvers_and_the_context() -> None:
    def inner(note_id: str, ctx: Context) -> int:
        return len(note_id) + ctx.remaining_ms

    def outer(count: Annotated[int, Resolve(inner)], note_id: str) -> Elicit[Confirm]:
        return Elicit(f"{count} {note_id}", Confirm)

    def tool(note_id: str, x: Annotated[Confirm, Resolve(outer)]) -> None: ...

    found = resolver_of(tool)
    assert kinds(found.parameters) == {"count": "resolver", "note_id": "argument"}
    inner_found = found.parameters["count"].resolver
    assert inner_found is not None
    assert kinds(inner_found.parameters) == {"note_id": "argument", "ctx": "context"}


def test_a_default_of_a_resolver_stands_unless_the_tool_has_such_an_argument() -> None:
    def resolver(note_id: str = "none", limit: int = 5) -> int:
        return len(note_id) + limit

    def tool(note_id: str, x: Annotated[int, Resolve(resolver)]) -> None: ...

    assert kinds(resolver_of(tool).parameters) == {"note_id": "argument"}


def test_annotations_that_are_strings_are_read() -> None:
    def tool(note_id: "str", x: "Annotated[Confirm, Resolve(ask)]", ctx: "Context") -> "None": ...

    assert kinds(analyse(tool).parameters) == {"note_id": "argument", "x": "resolver", "ctx": "context"}


def test_a_resolver_that_two_parameters_share_is_one_resolver() -> None:
    def outer(sure: Annotated[Confirm, Resolve(ask)]) -> int:
        return int(sure.confirm)

    def tool(
        a: Annotated[Confirm, Resolve(ask)],
        b: Annotated[ElicitationResult[Confirm], Resolve(ask)],
        c: Annotated[int, Resolve(outer)],
    ) -> None: ...

    plan = analyse(tool)
    assert plan.parameters["a"].resolver is plan.parameters["b"].resolver
    shared = plan.parameters["c"].resolver
    assert shared is not None
    assert shared.parameters["sure"].resolver is plan.parameters["a"].resolver


def test_methods_of_one_object_are_one_resolver_and_of_two_objects_two() -> None:
    class Asker:
        def ask(self) -> Elicit[Confirm]:
            return Elicit("Sure?", Confirm)

    one, other = Asker(), Asker()

    def tool(
        a: Annotated[Confirm, Resolve(one.ask)],
        b: Annotated[Confirm, Resolve(one.ask)],
        c: Annotated[Confirm, Resolve(other.ask)],
    ) -> None: ...

    plan = analyse(tool)
    keys = [parameter.resolver.key for parameter in plan.parameters.values() if parameter.resolver]
    assert keys == ["ask", "ask", "ask_2"]


# Whether a parameter gets the outcome or the data


@pytest.mark.parametrize(
    ("target", "takes_outcome"),
    [
        (ElicitationResult[Confirm], True),
        (ElicitationResult, True),
        (AcceptedElicitation[Confirm] | DeclinedElicitation | CancelledElicitation, True),
        (AcceptedElicitation[Confirm] | DeclinedElicitation, True),
        (DeclinedElicitation, True),
        (ElicitationResult[Confirm] | None, True),
        (Confirm, False),
        (Confirm | None, False),
        (list[int], False),
        (Any, False),
    ],
    ids=str,
)
def test_a_parameter_annotated_with_outcomes_gets_the_outcome_and_any_other_the_data(
    target: Any, takes_outcome: bool
) -> None:
    def tool(x: Any) -> None: ...

    tool.__annotations__["x"] = Annotated[target, Resolve(ask)]
    assert analyse(tool).parameters["x"].takes_outcome is takes_outcome


# Names on the wire


def test_a_question_is_called_like_its_resolver_and_a_second_of_that_name_gets_a_number() -> None:
    def make() -> Callable[..., Any]:
        def ask() -> Elicit[Confirm]:
            return Elicit("Sure?", Confirm)

        return ask

    second, third = make(), make()

    def tool(
        a: Annotated[Confirm, Resolve(ask)],
        b: Annotated[Confirm, Resolve(second)],
        c: Annotated[Confirm, Resolve(third)],
    ) -> None: ...

    keys = [parameter.resolver.key for parameter in analyse(tool).parameters.values() if parameter.resolver]
    assert keys == ["ask", "ask_2", "ask_3"]


def test_a_callable_object_and_a_partial_are_resolvers_too() -> None:
    class Ask:
        def __call__(self, note_id: str) -> Elicit[Confirm]:
            return Elicit(note_id, Confirm)

    def ask_about(note_id: str, sort: str) -> Elicit[Confirm]:
        return Elicit(f"{note_id} {sort}", Confirm)

    of_sort = functools.partial(ask_about, sort="a")

    def tool(note_id: str, a: Annotated[Confirm, Resolve(Ask())], b: Annotated[Confirm, Resolve(of_sort)]) -> None: ...

    assert kinds(resolver_of(tool, "a").parameters) == {"note_id": "argument"}
    assert resolver_of(tool, "a").key == "Ask"
    assert kinds(resolver_of(tool, "b").parameters) == {"note_id": "argument"}


def test_a_marker_shows_what_it_resolves_with() -> None:
    assert repr(Resolve(ask)) == "Resolve(ask)"


# Async


def test_a_plan_is_async_if_its_body_or_any_resolver_is() -> None:
    async def body() -> None: ...

    def deep(x: Annotated[int, Resolve(compute_later)]) -> int:
        return x

    def through_a_resolver(x: Annotated[int, Resolve(deep)]) -> None: ...

    def plain(x: Annotated[int, Resolve(compute)]) -> None: ...

    plans = [analyse(fn) for fn in (body, through_a_resolver, plain)]
    assert [(plan.body_is_async, plan.is_async) for plan in plans] == [(True, True), (False, True), (False, False)]
    assert resolver_of(deep).is_async


def test_partials_and_callable_objects_are_async_if_their_function_is() -> None:
    class Later:
        async def __call__(self) -> int:
            return 1

        async def method(self) -> int:
            return 1

    class Now:
        def __call__(self) -> int:
            return 1

    is_async_of = [
        compute_later,
        functools.partial(functools.partial(compute_later)),
        Later(),
        Later().method,
        functools.partial(Later()),
    ]
    assert all(is_async(fn) for fn in is_async_of)
    assert not any(is_async(fn) for fn in [compute, functools.partial(compute), Now(), Confirm])


# What refuses to start, naming the parameter and the mend


def test_a_resolver_parameter_that_nothing_fills_is_named_with_three_ways_to_mend_it() -> None:
    def resolver(who: str) -> int:
        return len(who)

    def tool(note_id: str, x: Annotated[int, Resolve(resolver)]) -> None: ...

    with pytest.raises(
        InvalidSignature,
        match=r"resolver resolver: nothing fills parameter 'who'; .*argument of tool.*Resolve.*Context",
    ):
        analyse(tool)


def test_a_resolved_parameter_of_the_tool_is_no_argument_of_its_resolvers() -> None:
    def resolver(sure: Confirm) -> int:
        return int(sure.confirm)

    def tool(sure: Annotated[Confirm, Resolve(ask)], x: Annotated[int, Resolve(resolver)]) -> None: ...

    with pytest.raises(InvalidSignature, match="nothing fills parameter 'sure'"):
        analyse(tool)


def takes_args(*args: int) -> int:
    return len(args)


def takes_more(**more: int) -> int:
    return len(more)


def takes_only(only: int, /) -> int:
    return only


@pytest.mark.parametrize(("fn", "name"), [(takes_args, "args"), (takes_more, "more"), (takes_only, "only")])
def test_a_tool_or_resolver_with_a_parameter_that_has_no_name_to_fill_it_by_is_refused(
    fn: Callable[..., Any], name: str
) -> None:
    def tool(only: int, x: Annotated[int, Resolve(fn)]) -> None: ...

    for broken in (fn, tool):
        with pytest.raises(
            InvalidSignature, match=f"{fn.__name__}: parameter '{name}' must be an ordinary named parameter"
        ):
            analyse(broken)


def test_a_cycle_of_resolvers_is_shown_from_end_to_end() -> None:
    def first(x: Any) -> int:
        return int(x)

    def second(x: Annotated[int, Resolve(first)]) -> int:
        return x

    def third(x: Annotated[int, Resolve(second)]) -> int:
        return x

    first.__annotations__["x"] = Annotated[int, Resolve(third)]

    def before(x: Annotated[int, Resolve(first)]) -> int:
        return x

    def tool(x: Annotated[int, Resolve(before)]) -> None: ...

    with pytest.raises(InvalidSignature, match="cycle: first → third → second → first; let one"):
        analyse(tool)


def test_a_resolver_of_itself_is_a_cycle() -> None:
    def again(x: Any) -> int:
        return int(x)

    again.__annotations__["x"] = Annotated[int, Resolve(again)]

    def tool(x: Annotated[int, Resolve(again)]) -> None: ...

    with pytest.raises(InvalidSignature, match="cycle: again → again"):
        analyse(tool)


@pytest.mark.parametrize(
    "annotation",
    [
        Optional[Annotated[Confirm, Resolve(ask)]],  # noqa: UP045 - authors write it so
        Annotated[Confirm, Resolve(ask)] | None,
        list[Annotated[Confirm, Resolve(ask)]],
    ],
    ids=["Optional", "union", "list"],
)
def test_a_resolve_inside_another_type_is_refused_with_the_right_way_to_write_it(annotation: Any) -> None:
    def tool(x: Any) -> None: ...

    tool.__annotations__["x"] = annotation
    with pytest.raises(InvalidSignature, match=r"parameter 'x' has Resolve\(…\) inside another type; write Annotated"):
        analyse(tool)


def test_annotations_that_cannot_be_read_name_the_function() -> None:
    def tool(x: "Nowhere") -> None: ...  # type: ignore[name-defined]  # noqa: F821

    def resolver(x: "Nowhere") -> int:  # type: ignore[name-defined]  # noqa: F821
        return int(x)

    def resolved(x: Annotated[int, Resolve(resolver)]) -> None: ...

    for fn, name in ((tool, "tool"), (resolved, "resolver")):
        with pytest.raises(InvalidSignature, match=rf"^{name}: its annotations .*Nowhere.*module level"):
            analyse(fn)


@pytest.mark.parametrize(
    ("returns", "problem"),
    [
        (Elicit[Nested], r"^resolver resolver: Nested\.inner can't be shown"),
        (Elicit[Nested] | int, r"Nested\.inner can't be shown"),
        (Optional[Elicit[Nested]], r"Nested\.inner can't be shown"),  # noqa: UP045
        (Elicit[list[Confirm]], "^resolver resolver: .*BaseModel"),  # type: ignore[type-var]
        (Elicit[Login], r"Login\.pin looks like a secret"),
        (Elicit[Confirm] | Elicit[Login], "may ask one question; split it"),
    ],
    ids=["nested", "nested or a number", "nested or nothing", "a list of models", "a secret", "two questions"],
)
def test_a_question_whose_form_cannot_be_shown_refuses_to_start(returns: Any, problem: str) -> None:
    def resolver() -> Any: ...

    resolver.__annotations__["return"] = returns

    def tool(x: Annotated[Any, Resolve(resolver)]) -> None: ...

    with pytest.raises(InvalidSignature, match=problem):
        analyse(tool)


def test_a_field_that_only_sounds_like_a_secret_can_be_allowed_where_it_is_resolved() -> None:
    def resolver() -> Elicit[Login]:
        return Elicit("Which pin of the board?", Login)

    def tool(
        x: Annotated[Login, Resolve(resolver, allow={"pin"})], y: Annotated[Login, Resolve(resolver, allow=["more"])]
    ) -> None: ...

    assert resolver_of(tool).allow == {"pin", "more"}


@pytest.mark.parametrize("returns", [Elicit, Elicit[M], Elicit[Confirm] | Confirm, int, None, Any], ids=str)  # type: ignore[valid-type]
def test_any_other_promise_of_a_resolver_is_taken_as_it_is(returns: Any) -> None:
    def resolver() -> Any: ...

    resolver.__annotations__["return"] = returns

    def tool(x: Annotated[Any, Resolve(resolver)]) -> None: ...

    assert resolver_of(tool).key == "resolver"


def test_a_generic_annotation_without_a_resolver_in_it_is_an_argument() -> None:
    class Box(BaseModel, Generic[T]):
        value: T

    def tool(x: Box[int], y: dict[str, Annotated[int, "plain"]]) -> None: ...

    assert kinds(analyse(tool).parameters) == {"x": "argument", "y": "argument"}


# Any graph


def resolvers_of(edges: dict[int, list[int]]) -> dict[int, Callable[..., Any]]:
    """A function for each node that takes every node it points at as a resolved parameter."""
    made: dict[int, Callable[..., Any]] = {}
    for node in edges:

        def fn(**_: Any) -> int:
            return 1

        fn.__name__ = f"r{node}"
        made[node] = fn
    for node, targets in edges.items():
        names = {f"p{target}": Annotated[int, Resolve(made[target])] for target in targets}
        made[node].__annotations__ = names
        made[node].__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in names]
        )
    return made


NODES = range(8)
any_graphs = st.fixed_dictionaries({node: st.lists(st.sampled_from(NODES), unique=True, max_size=3) for node in NODES})
graphs_without_cycles = st.fixed_dictionaries(
    {node: st.lists(st.integers(node + 1, 8), unique=True, max_size=4) for node in NODES} | {8: st.just([])}
)


@given(any_graphs | graphs_without_cycles)
@settings(derandomize=True, deadline=None)
def test_a_graph_of_resolvers_is_read_unless_a_cycle_can_be_reached(edges: dict[int, list[int]]) -> None:
    made = resolvers_of(edges)

    def tool(x: Annotated[int, Resolve(made[0])]) -> None: ...

    if cycle_from(0, edges, ()):
        with pytest.raises(InvalidSignature, match="cycle: r"):
            analyse(tool)
        return
    seen: dict[str, Resolver] = {}

    def walk(resolver: Resolver) -> None:
        assert seen.setdefault(resolver.key, resolver) is resolver
        node = int(resolver.key[1:])
        assert set(resolver.parameters) == {f"p{target}" for target in edges[node]}
        for parameter in resolver.parameters.values():
            assert parameter.resolver is not None
            walk(parameter.resolver)

    walk(resolver_of(tool))


def cycle_from(node: int, edges: dict[int, list[int]], path: tuple[int, ...]) -> bool:
    return node in path or any(cycle_from(target, edges, (*path, node)) for target in edges[node])
