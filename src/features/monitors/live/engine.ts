import type { FromEngine, ToEngine } from '../../../checks/messages'

/** What runs the checks of one location: a thread of the hub, or in tests a script. */
export interface Engine {
  send(message: ToEngine): void
  /** Calls `heard` with all that the engine tells, in order. Set once, before anything is sent. */
  onMessage(heard: (message: FromEngine) => void): void
  /** Ends it, with all checks under way. */
  stop(): Promise<void>
}
