import { existsSync, readFileSync, statSync } from 'node:fs'
import { pluralize, isOrAre } from '../core/pluralize'
import { instant, systemClock } from '../core/clock'
import { masterKeyFile, unknownSettings, type Config } from '../core/config'
import { withReadOnlyDatabase, schemaState } from '../core/db/schema-state'
import { diskSpace, formatMebibytes, lowFreeBytes, minFreeBytes } from '../core/disk'
import { folderProblem, missingKeyMessage, requiredMasterKeyId } from '../core/installation'
import { backupProblem, lastBackupFact, parseLastBackup } from '../core/last-backup'
import { loadMasterKey } from '../core/master-key'
import { keyFingerprint } from '../core/secrets'
import { pidFileOf, recordedAddress } from '../hub/folder-lock'
import { tryListen } from '../hub/listen'
import { checkTls, expiringSoonMs, readTls } from '../hub/tls-files'
import { failureText } from './failure'
import { getFromHub, localUrl, urlOn } from './hub-request'
import { readConfig, type SettingFlags } from './settings'

/** The result of a check, with a solution if there is a problem. A warning doesn't keep the hub from running. */
interface Finding {
  check: string
  status: 'ok' | 'warn' | 'fail'
  message: string
}

/** Checks everything a hub needs, without changing anything. Stops after invalid settings, which all other checks need. */
export async function runDoctorChecks(flags: SettingFlags): Promise<Finding[]> {
  const findings: Finding[] = []
  const check = async (name: string, run: () => Promise<Omit<Finding, 'check'>> | Omit<Finding, 'check'>) => {
    try {
      findings.push({ check: name, ...(await run()) })
    } catch (error) {
      findings.push({ check: name, ...fail(failureText(error).split('\n')[0]!) })
    }
  }
  let config: Config | undefined
  await check('settings', () => {
    config = readConfig(flags)
    return ok('All settings are valid.')
  })
  await check('unknown settings', checkNames)
  if (!config) return findings
  const { listen } = config
  const valid = config
  await check('data folder', () => checkFolder(valid))
  await check('disk', () => checkDisk(valid))
  await check('master key', () => checkKey(valid))
  let isReachable = false
  await check('database', async () => {
    const found = await checkDatabase(valid)
    isReachable = found.status !== 'fail'
    return found
  })
  if (isReachable) {
    await check('master key match', () => checkKeyMatch(valid))
    await check('failed jobs', () => checkJobs(valid))
    await check('clock', () => checkClock(valid))
    await check('last backup', () => checkBackup(valid))
  }
  await check('certificate', () => checkCertificate(valid))
  const own = runningHub(valid)
  // Without a recorded address and with port 0, the port is unknown.
  const hasHub = own?.url !== undefined || (listen.port !== 0 && (own !== null || (await isHubOnPort(valid))))
  await check('port', () => checkPort(valid, listen.host, listen.port, hasHub))
  if (hasHub) await check('responsiveness', () => checkResponsiveness(valid, own?.url ?? localUrl(valid)))
  return findings
}

const ok = (message: string) => ({ status: 'ok' as const, message })
const warn = (message: string) => ({ status: 'warn' as const, message })
const fail = (message: string) => ({ status: 'fail' as const, message })

function checkNames() {
  const unknown = unknownSettings()
  if (unknown.length === 0) return ok('All BAILIWICK_ variables are known.')
  const [verb, pronoun] = unknown.length === 1 ? ['is not a setting', 'it'] : ['are not settings', 'them']
  return warn(`${unknown.join(', ')} ${verb}. Correct the spelling or unset ${pronoun}.`)
}

function checkFolder({ data }: Config) {
  const problem = folderProblem(data)
  if (problem) return fail(problem)
  if (!existsSync(data)) return ok(`${data} does not exist yet and is created at the first start.`)
  if ((statSync(data).mode & 0o007) !== 0)
    return warn(`${data} is accessible to all users of this machine. Run: chmod 750 ${data}`)
  return ok(`${data} is writable.`)
}

async function checkDisk({ data }: Config) {
  const { folder, free } = await diskSpace(data)
  const found = `The disk of ${folder} has ${formatMebibytes(free)} free`
  if (free < minFreeBytes) return fail(`${found}, so the hub can't write. Free up disk space.`)
  return free < lowFreeBytes ? warn(`${found}. Free up disk space soon.`) : ok(`${found}.`)
}

async function checkKey(config: Config) {
  const file = masterKeyFile(config)
  if (!existsSync(file)) {
    // An unreachable database is reported by its own check.
    const required = await requiredMasterKeyId(config).catch(() => null)
    if (required !== null) return fail(missingKeyMessage(config, required))
    if (!config.masterKeyFile) return ok('Created at the first start. Back it up afterwards.')
  }
  const { key, previous } = loadMasterKey(file, false)
  const found = `${file} contains the key with fingerprint ${keyFingerprint(key)}`
  if (!previous) return ok(`${found}.`)
  return warn(
    `${found} and the previous key ${keyFingerprint(previous)}. Run bailiwick keys rotate-master to complete the rotation.`,
  )
}

async function checkDatabase(config: Config) {
  const { exists, applied, pending, incompatible } = await schemaState(config)
  if (incompatible) return fail(incompatible)
  if (!exists) return ok('Does not exist yet and is created at the first start.')
  if (pending.length > 0)
    return warn(
      `Reachable, but ${pluralize(pending.length, 'migrations')} ${isOrAre(pending.length)} pending (${pending.join(', ')}). They are applied at the next start, or with bailiwick migrate.`,
    )
  return ok(`Reachable, with all ${applied.length} migrations applied.`)
}

/** Runs a query; without rows if the database is still empty. */
const queryRows = <T>(config: Config, query: string): Promise<T[]> =>
  withReadOnlyDatabase(config, async rows => (rows && (await schemaState(config)).applied.length > 0 ? await rows<T>(query) : []))

async function checkKeyMatch(config: Config) {
  const required = await requiredMasterKeyId(config)
  if (required === null) return ok('Nothing has been encrypted yet.')
  if (!existsSync(masterKeyFile(config))) return fail(`The key file is missing. The database requires the key ${required}.`)
  const { key, previous } = loadMasterKey(masterKeyFile(config), false)
  const available = [key, ...(previous ? [previous] : [])].map(keyFingerprint)
  if (!available.includes(required))
    return fail(
      `The database requires the key ${required}, but ${masterKeyFile(config)} contains ${available.join(' and ')}. Restore the correct key file.`,
    )
  return ok('The master key matches the database.')
}

async function checkJobs(config: Config) {
  const rows = await queryRows<{ kind: string; n: number | string; last: string | null }>(
    config,
    `select kind, count(*) as n, max(last_error) as last from jobs where state = 'failed' group by kind order by kind`,
  )
  if (rows.length === 0) return ok('None.')
  return warn(
    `${rows.map(row => `${row.n} × ${row.kind} (${(row.last ?? 'unknown error').slice(0, 120)})`).join('; ')}. These jobs failed after all retries. See the log for details.`,
  )
}

// A machine that lost its clock starts at the date of its firmware. Certificates and tokens need the correct time.
const minPlausibleTime = Date.parse('2026-01-01T00:00:00Z')
const toleratedMs = 60_000

async function checkClock(config: Config) {
  const now = systemClock.now()
  if (now < minPlausibleTime) return fail(`The clock of this machine is wrong: ${instant(now)}. Set it, for example with NTP.`)
  const [row] = await queryRows<{ last: number | string | null }>(config, 'select max(seen_at) as last from hubs')
  const ahead = Number(row?.last ?? 0) - now
  if (ahead > toleratedMs)
    return fail(
      `A hub recorded the time ${instant(Number(row!.last))}, but it is ${instant(now)} on this machine. Set the clock, for example with NTP.`,
    )
  return ok(`The time is ${instant(now)}.`)
}

async function checkBackup(config: Config) {
  const [fact] = await queryRows<{ value: string }>(config, `select value from instance_facts where name = '${lastBackupFact}'`)
  const [oldest] = await queryRows<{ at: number | string | null }>(config, 'select min(created_at) as at from workspaces')
  const last = fact ? parseLastBackup(fact.value) : null
  const now = systemClock.now()
  const problem = backupProblem(last, Number(oldest?.at ?? now), now)
  if (problem) return warn(problem)
  if (last) return ok(`The last backup was made at ${last.created_at}.`)
  return oldest?.at == null ? ok('There is nothing to back up yet.') : warn('No backup has been made yet. Run bailiwick backup.')
}

function checkCertificate(config: Config) {
  const files = readTls(config)
  if (!files) return ok('Not configured. The hub does not serve HTTPS.')
  const { validToDate, validFromDate } = checkTls(config, files)
  const [now, from, to] = [systemClock.now(), validFromDate.getTime(), validToDate.getTime()]
  if (now >= to) return fail(`${config.tlsCert} expired at ${instant(to)}. Renew the certificate.`)
  if (now < from)
    return fail(`${config.tlsCert} is not valid before ${instant(from)}, but it is ${instant(now)} on this machine.`)
  const found = `${config.tlsCert} is valid until ${instant(to)}`
  return to - now < expiringSoonMs ? warn(`${found}. Renew it soon.`) : ok(`${found}.`)
}

async function checkPort(config: Config, host: string, port: number, hasHub: boolean) {
  const own = runningHub(config)
  if (own?.url) return ok(`The running hub of this data folder (process ${own.pid}) is listening at ${own.url.origin}.`)
  if (port === 0) return ok('The hub picks a free port.')
  const error = await tryListen(host, port)
  if (error === null) return ok(`Port ${port} on ${host} is free.`)
  // Without IPv6, the hub listens on 0.0.0.0 instead.
  if (host === '::' && error !== 'EADDRINUSE') return await checkPort(config, '0.0.0.0', port, hasHub)
  if (error === 'EADDRINUSE') {
    if (own) return ok(`Port ${port} is in use by the running hub of this data folder (process ${own.pid}).`)
    if (hasHub) return ok(`Port ${port} is in use by a running hub.`)
    return fail(
      `Port ${port} on ${host} is in use by another program. Stop that program, or choose another port with --listen HOST:PORT.`,
    )
  }
  return fail(`The hub can't listen on ${host} port ${port} (${error}). Choose another address with --listen HOST:PORT.`)
}

// Every request waits for a block to end.
const longBlockMs = 250

async function checkResponsiveness(config: Config, base: URL) {
  const { url, status, text } = await readMetrics(config, base)
  const seconds = /^bailiwick_event_loop_block_seconds (\S+)$/m.exec(text)?.[1]
  if (seconds === undefined) return warn(`Unknown, because ${url} returned ${status} without this metric.`)
  const ms = Math.round(Number(seconds) * 1000)
  const found = `Requests to the running hub waited for up to ${ms} ms for other work in the last minute`
  return ms > longBlockMs ? warn(`${found}.`) : ok(`${found}.`)
}

async function readMetrics(config: Config, base: URL) {
  const url = new URL('/metrics', base)
  const headers: Record<string, string> = config.metricsToken === null ? {} : { authorization: `Bearer ${config.metricsToken}` }
  return { url, ...(await getFromHub(url, { checkCertificate: false, headers })) }
}

/** Whether a hub with PostgreSQL, whose data folder has no process id, is listening on the port. */
async function isHubOnPort(config: Config): Promise<boolean> {
  if (!config.databaseUrl) return false
  try {
    return /^bailiwick_info\b/m.test((await readMetrics(config, localUrl(config))).text)
  } catch {
    return false
  }
}

/** The running hub of the data folder: its process ID, and its URL on this machine if it is recorded. Null if none is running. */
function runningHub({ data }: Config): { pid: number; url?: URL } | null {
  const file = pidFileOf(data)
  if (!existsSync(file)) return null
  const pid = Number(readFileSync(file, 'utf8'))
  // An empty file would give 0, which stands for the own process group.
  if (!Number.isInteger(pid) || pid < 1) return null
  // In a container, the process of a hub that was killed can have had the ID that this one has now.
  if (pid === process.pid || !isRunning(pid)) return null
  const address = recordedAddress(data)
  return { pid, ...(address && { url: urlOn(address) }) }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
