import type { CheckSpec, CheckType } from '../check'
import { InvalidCondition } from '../conditions/invalid-condition'
import { createEvaluator, type Evaluator } from '../conditions/evaluation'
import type { Confirmation } from '../confirmation'
import type { Redact } from '../redaction'
import { redactorFor } from './evidence'
import type { ScheduleEntry } from './schedule'

/** A monitor in one configuration, as the engine runs it. */
export class ScheduledCheck implements ScheduleEntry {
  tick: number | null = null
  dueAt = 0
  startedAt = -Infinity
  running = false
  /** Replaced or removed: the result of a running check is ignored. */
  removed = false
  confirmation: Confirmation
  /** Nonces of requested runs that have not started. */
  requestedRuns: string[] = []
  readonly evaluate: Evaluator

  constructor(
    public spec: CheckSpec,
    readonly type: CheckType | undefined,
  ) {
    this.confirmation = { status: spec.confirmed_status, contradictions: 0 }
    this.evaluate = evaluatorFor(spec)
  }

  /** Created only when needed, which is when something failed. */
  redactor(): Redact {
    return redactorFor(this.spec.options, this.type)
  }

  get id(): string {
    return this.spec.monitor
  }

  get intervalMs(): number {
    return this.spec.interval_ms
  }
}

/** Shared evaluators: most monitors have the same conditions. */
const evaluators = new Map<string, Evaluator>()
const maxEvaluators = 1000

function evaluatorFor({ down_if, degraded_if, degraded_ms }: CheckSpec): Evaluator {
  const conditions = { down_if, degraded_if, degraded_ms }
  const key = JSON.stringify(conditions)
  let evaluator = evaluators.get(key)
  if (evaluator) return evaluator
  if (evaluators.size >= maxEvaluators) evaluators.clear()
  evaluators.set(key, (evaluator = createOrReport(conditions)))
  return evaluator
}

/** A later version of the hub may use conditions that this engine does not support. */
function createOrReport(spec: Parameters<typeof createEvaluator>[0]): Evaluator {
  try {
    return createEvaluator(spec)
  } catch (error) {
    if (!(error instanceof InvalidCondition)) throw error
    const message = `Invalid condition: ${error.message}.`
    return facts => ({ status: 'down', error: facts.error ?? { kind: 'unsupported', message }, conditions: [] })
  }
}
