import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { numbered, isOrAre } from '../core/numbered'
import { instant, systemClock } from '../core/clock'
import { masterKeyFile, unknownSettings, type Config } from '../core/config'
import { look, schemaState } from '../core/db/schema-state'
import { freeBytes, inMebibytes, leastFree } from '../core/disk'
import { folderFault, missingKey, wantedMasterKey } from '../core/installation'
import { loadMasterKey } from '../core/master-key'
import { keyFingerprint } from '../core/secrets'
import { pidFileOf } from '../hub/folder-lock'
import { tryListen } from '../hub/listen'
import { checkTls, readTls } from '../hub/tls-files'
import { failureText } from './failure'
import { readConfig, type SettingFlags } from './settings'

/** What one check found, with what to do about it. `warn` is worth a look and keeps nothing from running. */
export interface Finding {
  check: string
  verdict: 'ok' | 'warn' | 'fail'
  says: string
}

/** Looks at everything a hub needs, without changing anything. Settings that cannot be read end it early: the rest hangs on them. */
export async function examine(flags: SettingFlags): Promise<Finding[]> {
  const findings: Finding[] = []
  const check = async (name: string, look: () => Promise<Omit<Finding, 'check'>> | Omit<Finding, 'check'>) => {
    try {
      findings.push({ check: name, ...(await look()) })
    } catch (error) {
      findings.push({ check: name, ...fail(failureText(error).split('\n')[0]!) })
    }
  }
  let config: Config | undefined
  await check('settings', () => {
    config = readConfig(flags)
    return ok('All settings can be read.')
  })
  await check('unknown settings', checkNames)
  if (!config) return findings
  const { listen } = config
  const here = config
  await check('data folder', () => checkFolder(here))
  await check('disk', () => checkDisk(here))
  await check('master key', () => checkKey(here))
  let reached = false
  await check('database', async () => {
    const found = await checkDatabase(here)
    reached = found.verdict !== 'fail'
    return found
  })
  if (reached) {
    await check('master key fits', () => checkCanary(here))
    await check('failed jobs', () => checkJobs(here))
    await check('clock', () => checkClock(here))
  }
  await check('certificate', () => checkCertificate(here))
  await check('port', () => checkPort(here, listen.host, listen.port))
  return findings
}

const ok = (says: string) => ({ verdict: 'ok' as const, says })
const warn = (says: string) => ({ verdict: 'warn' as const, says })
const fail = (says: string) => ({ verdict: 'fail' as const, says })

function checkNames() {
  const unknown = unknownSettings()
  if (unknown.length === 0) return ok('Every BAILIWICK_ variable names a setting.')
  return warn(`${unknown.join(', ')} ${unknown.length === 1 ? 'names' : 'name'} no setting: correct the spelling or unset it.`)
}

function checkFolder({ data }: Config) {
  const fault = folderFault(data)
  if (fault) return fail(fault)
  if (!existsSync(data)) return ok(`${data} is not there yet; the first start makes it.`)
  if ((statSync(data).mode & 0o007) !== 0) return warn(`${data} is open to every user of this machine; run: chmod 750 ${data}`)
  return ok(`${data} can be written.`)
}

// A day's growth of a busy hub.
const littleFree = 256 * 1024 * 1024

async function checkDisk({ data }: Config) {
  let folder = data
  while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder)
  const free = await freeBytes(folder)
  const says = `The disk of ${folder} has ${inMebibytes(free)} free`
  if (free < leastFree) return fail(`${says}, and the hub can write nothing: make room.`)
  return free < littleFree ? warn(`${says}: make room soon.`) : ok(`${says}.`)
}

async function checkKey(config: Config) {
  const file = masterKeyFile(config)
  if (!existsSync(file)) {
    // A database that cannot be asked is told of by its own check.
    const wanted = await wantedMasterKey(config).catch(() => null)
    if (wanted !== null) return fail(missingKey(config, wanted))
    if (!config.masterKeyFile) return ok('The first start makes one; copy it to a safe place then.')
  }
  const { key, previous } = loadMasterKey(file, false)
  const says = `${file} holds a key with fingerprint ${keyFingerprint(key)}`
  if (!previous) return ok(`${says}.`)
  return warn(`${says} and the one before it, ${keyFingerprint(previous)}: end the rotation with bailiwick keys rotate-master.`)
}

async function checkDatabase(config: Config) {
  const { exists, applied, pending, refused } = await schemaState(config)
  if (refused) return fail(refused)
  if (!exists) return ok('There is none yet; the first start makes it.')
  if (pending.length > 0)
    return warn(
      `It opens; ${numbered(pending.length, 'migrations')} ${isOrAre(pending.length)} missing (${pending.join(', ')}). The next start, or bailiwick migrate, applies what is missing.`,
    )
  return ok(`It opens, with all ${applied.length} migrations.`)
}

/** Whether the tables are there to ask: an empty database has none. */
const asked = <T>(config: Config, query: string): Promise<T[]> =>
  look(config, async rows => (rows && (await schemaState(config)).applied.length > 0 ? await rows<T>(query) : []))

async function checkCanary(config: Config) {
  const wanted = await wantedMasterKey(config)
  if (wanted === null) return ok('Nothing was sealed yet.')
  if (!existsSync(masterKeyFile(config))) return fail(`It is missing; the database was made with the key ${wanted}.`)
  const { key, previous } = loadMasterKey(masterKeyFile(config), false)
  const have = [key, ...(previous ? [previous] : [])].map(keyFingerprint)
  if (!have.includes(wanted))
    return fail(
      `The database was made with the key ${wanted}, and ${masterKeyFile(config)} holds ${have.join(' and ')}: put the right key file there.`,
    )
  return ok('The master key is the one the database was made with.')
}

async function checkJobs(config: Config) {
  const rows = await asked<{ kind: string; n: number | string; last: string | null }>(
    config,
    `select kind, count(*) as n, max(last_error) as last from jobs where state = 'failed' group by kind order by kind`,
  )
  if (rows.length === 0) return ok('None.')
  return warn(
    `${rows.map(row => `${row.n} of ${row.kind} (${(row.last ?? 'no reason kept').slice(0, 120)})`).join('; ')}: they were given up after all tries; the log tells of each.`,
  )
}

// Certificates and tokens are judged by the clock; a machine that forgot the date stands at its firmware's.
const leastPlausible = Date.parse('2026-01-01T00:00:00Z')
const toleratedMs = 60_000

async function checkClock(config: Config) {
  const now = systemClock.now()
  if (now < leastPlausible) return fail(`This machine believes it is ${instant(now)}: set its clock, for example with NTP.`)
  const [row] = await asked<{ last: number | string | null }>(config, 'select max(seen_at) as last from hubs')
  const ahead = Number(row?.last ?? 0) - now
  if (ahead > toleratedMs)
    return fail(
      `A hub wrote the time ${instant(Number(row!.last))}, and here it is ${instant(now)}: set the clock, for example with NTP.`,
    )
  return ok(`It is ${instant(now)}.`)
}

// Let's Encrypt renews 30 days ahead; what is this close was forgotten.
const soonMs = 14 * 24 * 3_600_000

function checkCertificate(config: Config) {
  const files = readTls(config)
  if (!files) return ok('HTTPS is not served directly.')
  const { validToDate, validFromDate } = checkTls(config, files)
  const [now, from, to] = [systemClock.now(), validFromDate.getTime(), validToDate.getTime()]
  if (now >= to) return fail(`${config.tlsCert} ran out at ${instant(to)}: put a renewed one there.`)
  if (now < from) return fail(`${config.tlsCert} is valid from ${instant(from)} on only, and here it is ${instant(now)}.`)
  const says = `${config.tlsCert} is valid until ${instant(to)}`
  return to - now < soonMs ? warn(`${says}: renew it.`) : ok(`${says}.`)
}

async function checkPort(config: Config, host: string, port: number) {
  if (port === 0) return ok('Any free port will be taken.')
  const error = await tryListen(host, port)
  if (error === null) return ok(`Port ${port} on ${host} is free.`)
  // Without IPv6 the hub serves the same port on 0.0.0.0.
  if (host === '::' && error !== 'EADDRINUSE') return await checkPort(config, '0.0.0.0', port)
  if (error === 'EADDRINUSE') {
    const pid = runningHub(config)
    if (pid !== null) return ok(`Port ${port} is in use, and a hub of this data folder is running (process ${pid}).`)
    return fail(`Port ${port} on ${host} is in use by another program: stop it, or choose another with --listen HOST:PORT.`)
  }
  return fail(`The hub cannot listen on ${host} port ${port} (${error}): choose another with --listen HOST:PORT.`)
}

/** The process id of the hub that holds the data folder and lives, or null. */
function runningHub({ data }: Config): number | null {
  const file = pidFileOf(data)
  if (!existsSync(file)) return null
  const pid = Number(readFileSync(file, 'utf8'))
  try {
    process.kill(pid, 0)
    return pid
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM' ? pid : null
  }
}
