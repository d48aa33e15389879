import { apiBench } from './api'
import type { Bench } from './bench'
import { heartbeatsBench } from './heartbeats'
import { storeBench } from './store'
import { webhooksBench } from './webhooks'

/** Every measurement, in the order of the help. */
export const benches: readonly Bench[] = [apiBench, heartbeatsBench, storeBench, webhooksBench]
