import type { FromEngine, ToEngine } from '../../../checks/messages'

/** Runs the checks of one location: a worker thread of the hub, or a script in tests. */
export interface Engine {
  send(message: ToEngine): void
  /** Registers the handler for messages from the engine, which are delivered in order. Call once, before `send`. */
  onMessage(handler: (message: FromEngine) => void): void
  /** Stops the engine and all running checks. */
  stop(): Promise<void>
}
