import { systemClock } from '../../core/clock'
import type { Config } from '../../core/config'
import { runHub, type RunningHub, type Threads } from '../../hub/run'
import { samples } from './monitors'
import { daysBack, troubles } from './outages'
import { Past } from './past'
import { PastChecks } from './past-checks'
import { writeResults } from './past-results'
import { planAccess } from './access'
import { planChannels } from './channels'
import { planHeartbeats, type PingPaths } from './heartbeats'
import { planIncidents } from './incidents'
import { planMaintenance } from './maintenance'
import { join, type People } from './people'
import { planWebhooks } from './webhooks'
import { beginJobs, type Releases } from './jobs'
import { meddle, planProviderZones } from './provider-zones'
import { planTemplates } from './templates'
import { planZones, type Zone } from './zones'
import { dayMs, secondMs, type Telling } from './telling'
import { loopback } from './ports'
import { mulberry32 } from './random'
import { domain, resolveHere } from './resolver'
import { startServers, type Servers } from './servers'
import { signInLink } from './sign-in'

/** A demo that serves. */
export interface RunningDemo {
  running: RunningHub
  /** Whoever looks at it signs in as them. */
  owner: People['ada']
  /** Signs the owner in, once. */
  link: string
  stop(): Promise<void>
}

/**
 * Fills an empty installation with three months of a company that does not exist, and serves it.
 * @param seed of all that is left to chance
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
    }
    const past = await Past.open(config, now - (daysBack + 1) * dayMs, resolveHere)
    clock = past.clock
    const { people, pings, releases } = await livePast(past, servers, now, random)
    clock = systemClock
    const link = signInLink(people.ada.email)
    const running = await runHub(config, threads, systemClock, { pages: link.pages, resolve: resolveHere })
    servers.begin()
    const jobs = [beginJobs(running.hub.baseUrl, pings, releases), meddle(servers)]
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

/** What goes on after the past. */
interface Lived {
  people: People
  pings: PingPaths
  releases: Releases
}

/** All that happened before `now` (ms UTC). */
async function livePast(past: Past, servers: Servers, now: number, random: () => number): Promise<Lived> {
  const ago = (days: number) => now - days * dayMs
  const people = await join(past)
  const all = samples(servers)
  const trouble = troubles(all, now, random)
  const checks = new PastChecks(past, trouble, random)
  const told: Telling = { past, people, checks, servers, now, ago, random }
  past.clock.moveTo(ago(daysBack))
  await checks.begin(people.ada, all)
  past.plan(ago(daysBack) + secondMs, () => checks.look())
  checks.plan(now)
  const pings = planHeartbeats(told)
  planMaintenance(told)
  planChannels(told)
  planWebhooks(told)
  planIncidents(told)
  const zone: Zone = { name: domain, id: '' }
  const deploy = planAccess(told, zone)
  planZones(told, zone, deploy)
  planProviderZones(told)
  planTemplates(told)
  past.plan(now - secondMs, () => checks.look())
  await past.live(now)
  await writeResults(past.hub, checks.all(), trouble, now, random)
  // However long that took, nobody was away meanwhile.
  past.clock.moveTo(systemClock.now())
  await checks.look()
  await checks.end()
  await past.close()
  return { people, pings, releases: { zoneId: zone.id, token: deploy.token() } }
}
