from outstep.battery.model import Battery as Battery
from outstep.contracts.model import Contract as Contract
from outstep.engine.monitor import Monitor as Monitor
from outstep.errors import OutstepError as OutstepError
from outstep.findings import Report as Report
from outstep.scope.model import Action as Action
from outstep.scope.model import Rule as Rule
from outstep.scope.model import Scenario as Scenario
from outstep.scope.observer import ScopeObserver as ScopeObserver
from outstep.workflow.api import check as check
from outstep.workflow.contracts import load_contract as load_contract
from outstep.workflow.functions import ready as ready
from outstep.workflow.recorder import Recorder as Recorder
from outstep.workflow.reporting import report_text as report_text
from outstep.workflow.traces import Trace as Trace
from outstep.workflow.traces import load_traces as load_traces

__version__: str
