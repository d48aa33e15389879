import type { AccountCheck, AdapterKind } from '../../../adapters/adapter'
import type { AdapterContext } from '../../../adapters/context'
import { CloudError, type CloudServer, type Operation, type Polled, type ServerVerb, type Started } from '../clouds/cloud'

export { CloudError, type AdapterContext, type Operation, type Polled, type Started }

/** What a controller can do to its server. */
export const controllerVerbs = [
  'power_on',
  'power_off',
  'shutdown',
  'reboot',
  'power_cycle',
  'suspend',
  'resume',
] as const satisfies readonly ServerVerb[]
export type ControllerVerb = (typeof controllerVerbs)[number]

/** A verb with its parameters, as for clouds. */
export type ControllerCommand =
  | { verb: Exclude<ControllerVerb, 'shutdown'> }
  /** `timeoutSeconds`: how long the operating system may take. `thenForce`: whether it is switched off after that. */
  | { verb: 'shutdown'; timeoutSeconds: number; thenForce: boolean }

export type Power = CloudServer['power']

export interface SensorReading {
  metric: 'temperature.celsius' | 'fan.rpm' | 'power.watts'
  /** The name of the sensor, unique for its metric. */
  name: string
  value: number
}

/** An opened controller of one server. All calls throw {@link CloudError}; messages never contain secrets. */
export interface Controller {
  /** Checks that the controller can be reached and accepts the credentials, without changing anything. */
  check(): Promise<AccountCheck>
  /** Absent for kinds that can't report it. */
  power?(): Promise<Power>
  /**
   * Starts a command of {@link ControllerKind.verbs}. `reboot` and `power_cycle` can't be repeated safely.
   * @throws CloudError; `refused` if this server doesn't support the verb
   */
  start(command: ControllerCommand): Promise<Started>
  /** Checks the progress of an operation, also in another process. @throws CloudError if it failed */
  poll(operation: Operation): Promise<Polled>
  /** Absent for kinds without sensors. */
  sensors?(): Promise<SensorReading[]>
}

/** A kind of controller, with its settings. */
export interface ControllerKind<S = any> extends AdapterKind {
  verbs: readonly ControllerVerb[]
  /** Whether it can read the power state of the server. */
  readsPower: boolean
  validate?(settings: S): void
  open(settings: S, around: AdapterContext): Controller
}
