"""What an agent may do next: plans, procedures, tools and flows as automata, for any model or framework.

>>> import grammata_agents
>>> symbols, rules = ["walk", "bus", "rest"], {"s": ["walk rest", "bus"]}
>>> spec = {"kind": "cfg", "symbols": symbols, "start": "s", "rules": rules}
>>> plans = grammata_agents.Plans(spec)
>>> planner = plans.planner()
>>> [action.name for action in planner.open()]
['walk', 'bus']

The package runs no model. The host offers the open actions to a model as a list of tools or a JSON Schema, and the same
automaton checks the model's answer. Calls that may take long release the interpreter's lock.
"""

import atexit as _atexit
import os as _os

from grammata_agents._errors import (
    AgentsError,
    Diagnostic,
    FileError,
    GrammarError,
    LimitError,
    RejectedError,
    UsageError,
)
from grammata_agents._native import (
    FlowDomain,
    FlowWalk,
    Planner,
    Plans,
    Procedure,
    Session,
    ToolIndex,
    Tools,
    Turns,
    __version__,
    _after_fork_in_child,
    _after_fork_in_parent,
    _before_fork,
    _end,
)
from grammata_agents._tool_session import ToolSession
from grammata_agents._values import (
    Ahead,
    Choice,
    Flow,
    FlowVerdict,
    Hit,
    Obstacle,
    OpenAction,
    OpenCall,
    OpenNode,
    PlanOutcome,
    Policy,
    ProcedureVerdict,
    Question,
    Request,
    Scores,
    Step,
    Tool,
    ToolCall,
    Turn,
    Verdict,
    Violation,
)

# ends calls into Python code before daemon threads lose the interpreter
_atexit.register(_end)
if hasattr(_os, "register_at_fork"):
    # no other thread is inside a call when the process forks
    _os.register_at_fork(before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork_in_child)

__all__ = [
    "AgentsError",
    "Ahead",
    "Choice",
    "Diagnostic",
    "FileError",
    "Flow",
    "FlowDomain",
    "FlowVerdict",
    "FlowWalk",
    "GrammarError",
    "Hit",
    "LimitError",
    "Obstacle",
    "OpenAction",
    "OpenCall",
    "OpenNode",
    "PlanOutcome",
    "Planner",
    "Plans",
    "Policy",
    "Procedure",
    "ProcedureVerdict",
    "Question",
    "RejectedError",
    "Request",
    "Scores",
    "Session",
    "Step",
    "Tool",
    "ToolCall",
    "ToolIndex",
    "ToolSession",
    "Tools",
    "Turn",
    "Turns",
    "UsageError",
    "Verdict",
    "Violation",
    "__version__",
]
