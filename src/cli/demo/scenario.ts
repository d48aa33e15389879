import type { Simulation } from './simulation'
import type { SimulatedChecks } from './simulated-checks'
import type { People } from './people'
import type { Servers } from './servers'

/** What the parts of the simulation work with. */
export interface Scenario {
  simulation: Simulation
  people: People
  checks: SimulatedChecks
  servers: Servers
  /** End of the simulation (ms UTC). */
  now: number
  /** The time (ms UTC) that many days before `now`. */
  ago(days: number): number
  /** A number from 0 to 1. */
  random(): number
}
