import { agentWeightBench } from './agent-weight'
import { agentsBench } from './agents'
import { apiBench } from './api'
import type { Bench } from './bench'
import { blocksBench } from './blocks'
import { costBench } from './cost'
import { coverageBench } from './coverage'
import { dnsBench } from './dns'
import { dynamicIpsBench } from './dynamic-ips'
import { heartbeatsBench } from './heartbeats'
import { monitorsBench } from './monitors'
import { providerApplyBench } from './provider-apply'
import { registryBench } from './registry'
import { seriesBench } from './series'
import { serversBench } from './servers'
import { storeBench } from './store'
import { tlsScanBench } from './tls-scan'
import { webhooksBench } from './webhooks'

/** All benchmarks, in the order of the help. */
export const benches: readonly Bench[] = [
  agentWeightBench,
  agentsBench,
  apiBench,
  blocksBench,
  costBench,
  coverageBench,
  dnsBench,
  dynamicIpsBench,
  heartbeatsBench,
  monitorsBench,
  providerApplyBench,
  registryBench,
  seriesBench,
  serversBench,
  storeBench,
  tlsScanBench,
  webhooksBench,
]
