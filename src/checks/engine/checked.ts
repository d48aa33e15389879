import type { CheckSpec, CheckType } from '../check'
import { ConditionRefused } from '../conditions/refused'
import { judgeOf, type Judge } from '../conditions/judgement'
import type { Streak } from '../streak'
import { hiding } from './evidence'
import type { Turn } from './schedule'

/** A monitor under one configuration, as the engine runs it. */
export class Checked implements Turn {
  tick: number | null = null
  dueAt = 0
  begunAt = -Infinity
  running = false
  /** Another has taken its place, or it is checked no more: what its run finds is nobody's concern. */
  gone = false
  streak: Streak
  /** Of those who asked for a run that has not begun yet. */
  asked: string[] = []
  readonly judge: Judge

  constructor(
    public spec: CheckSpec,
    readonly type: CheckType | undefined,
  ) {
    this.streak = { settled: spec.settled, streak: 0 }
    this.judge = judgeFor(spec)
  }

  /** Made where it is needed, which is where something is wrong. */
  hider(): (text: string) => string {
    return hiding(this.spec.options, this.type)
  }

  get id(): string {
    return this.spec.monitor
  }

  get intervalMs(): number {
    return this.spec.interval_ms
  }
}

/** Of most monitors the conditions are alike. */
const judges = new Map<string, Judge>()
const judgesMost = 1000

function judgeFor({ down_if, degraded_if, degraded_ms }: CheckSpec): Judge {
  const judged = { down_if, degraded_if, degraded_ms }
  const key = JSON.stringify(judged)
  let judge = judges.get(key)
  if (judge) return judge
  if (judges.size >= judgesMost) judges.clear()
  judges.set(key, (judge = read(judged)))
  return judge
}

/** A hub of a later version may know conditions that this engine does not. */
function read(spec: Parameters<typeof judgeOf>[0]): Judge {
  try {
    return judgeOf(spec)
  } catch (error) {
    if (!(error instanceof ConditionRefused)) throw error
    const message = `A condition cannot be read here: it ${error.message}`
    return facts => ({ status: 'down', error: facts.error ?? { kind: 'unsupported', message }, conditions: [] })
  }
}
