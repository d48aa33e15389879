import { systemClock } from '../../core/clock'
import type { Config } from '../../core/config'
import { runHub, type RunningHub, type Threads } from '../../hub/run'
import { sampleMonitors } from './monitors'
import { daysBack, createOutages } from './outages'
import { Simulation } from './simulation'
import { SimulatedChecks } from './simulated-checks'
import { writePastResults } from './simulated-results'
import { scheduleAccess } from './access'
import { scheduleCertificates } from './certificates'
import { scheduleChannels } from './channels'
import { scheduleDynamicIps } from './dynamic-ips'
import { scheduleFleet } from './fleet'
import { scheduleHeartbeats, type PingPaths } from './heartbeats'
import { scheduleIncidents } from './incidents'
import { scheduleMaintenance } from './maintenance'
import { createPeople, type People } from './people'
import { scheduleTlsEndpoints } from './tls-endpoints'
import { scheduleWebhooks } from './webhooks'
import { startJobs, type Releases } from './jobs'
import { editAtProvider, scheduleProviderZones } from './provider-zones'
import { scheduleContacts } from './contacts'
import { writeRegistryFile } from './registrar'
import { scheduleRegistrarAccount } from './registrar-account'
import { scheduleTemplates } from './templates'
import { scheduleZones, type Zone } from './zones'
import type { Scenario } from './scenario'
import { dayMs, secondMs } from './time-units'
import { loopback } from './ports'
import { mulberry32 } from './random'
import { domain, resolveDemoNames } from './resolver'
import { startServers, type Servers } from './servers'
import { signInLink } from './sign-in'

/** A running demo. */
interface RunningDemo {
  running: RunningHub
  /** The user that visitors sign in as. */
  owner: People['ada']
  /** Signs in the owner once. */
  link: string
  stop(): Promise<void>
}

/**
 * Fills an empty installation with 90 days of data of a fictional company and serves it.
 * @param seed for everything random
 */
export async function runDemo(empty: Config, threads: Threads, seed: number): Promise<RunningDemo> {
  const random = mulberry32(seed)
  const now = systemClock.now()
  let clock: { now(): number } = systemClock
  const servers = await startServers(() => clock.now(), mulberry32(seed + 1))
  try {
    const config: Config = {
      ...empty,
      dnsResolvers: [{ address: loopback, port: servers.ports.dns }],
      smtpUrl: { host: loopback, port: servers.ports.mail, tls: 'none', user: null, password: null },
      mailFrom: 'Bailiwick <alerts@kestrel.example>',
      registryFile: writeRegistryFile(empty, servers.ports.registrar),
    }
    const simulation = await Simulation.open(config, now - (daysBack + 1) * dayMs, resolveDemoNames)
    clock = simulation.clock
    const { people, pings, releases } = await simulatePast(simulation, servers, now, random)
    clock = systemClock
    const link = signInLink(people.ada.email)
    // Before the hub starts, or its first checks would see servers in the middle of a cycle.
    await servers.startCycles()
    const running = await runHub(config, threads, systemClock, { pages: link.pages, resolve: resolveDemoNames })
    const jobs = [startJobs(running.hub.baseUrl, pings, releases), editAtProvider(servers)]
    return {
      running,
      owner: people.ada,
      link: running.hub.baseUrl + link.path,
      async stop() {
        for (const one of jobs) one.stop()
        await running.stop()
        servers.stop()
      },
    }
  } catch (error) {
    servers.stop()
    throw error
  }
}

/** What the running demo continues with. */
interface SimulationResult {
  people: People
  pings: PingPaths
  releases: Releases
}

/** Simulates everything that happened before `now` (ms UTC). */
async function simulatePast(
  simulation: Simulation,
  servers: Servers,
  now: number,
  random: () => number,
): Promise<SimulationResult> {
  const ago = (days: number) => now - days * dayMs
  const people = await createPeople(simulation)
  const monitors = sampleMonitors(servers)
  const outages = createOutages(monitors, now, random)
  const checks = new SimulatedChecks(simulation, outages, random)
  const scenario: Scenario = { simulation, people, checks, servers, now, ago, random }
  simulation.clock.advanceTo(ago(daysBack))
  await checks.start(people.ada, monitors)
  simulation.schedule(ago(daysBack) + secondMs, () => checks.checkAll())
  checks.schedule(now)
  const pings = scheduleHeartbeats(scenario)
  scheduleMaintenance(scenario)
  scheduleChannels(scenario)
  scheduleWebhooks(scenario)
  scheduleIncidents(scenario)
  const zone: Zone = { name: domain, id: '' }
  const deploy = scheduleAccess(scenario, zone)
  scheduleZones(scenario, zone, deploy)
  scheduleDynamicIps(scenario)
  scheduleProviderZones(scenario)
  scheduleTemplates(scenario)
  scheduleContacts(scenario)
  scheduleRegistrarAccount(scenario)
  scheduleFleet(scenario)
  scheduleCertificates(scenario)
  scheduleTlsEndpoints(scenario)
  simulation.schedule(now - secondMs, () => checks.checkAll())
  await simulation.runUntil(now)
  await writePastResults(simulation.hub, checks.all(), outages, now, random)
  // The simulation took time: check once more, or the hub would see a gap.
  simulation.clock.advanceTo(systemClock.now())
  await checks.checkAll()
  await checks.end()
  await simulation.close()
  return { people, pings, releases: { zoneId: zone.id, token: deploy.token() } }
}
