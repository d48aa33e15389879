import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SQL } from 'bun'
import { freePort } from './free-port'

/** A PostgreSQL server for one test run, which is deleted afterwards. */
export interface TemporaryPostgres {
  /** URL of a superuser without password, on loopback. */
  url: string
  /** Ends the server: SIGQUIT as in a crash, SIGINT like a restart by its operator. */
  kill(signal: 'SIGQUIT' | 'SIGINT'): Promise<void>
  /** Makes it stop answering without closing its connections, like a broken network, until `thaw`. */
  freeze(): void
  thaw(): void
  /** Starts it again on the same port, without waiting until it is ready. */
  restart(): void
  stop(): Promise<void>
}

/**
 * Starts a server on a free loopback port with its own folder. initdb refuses to run as root, so root runs it as the user
 * `postgres`. For speed, nothing is flushed to disk, and a crash of the machine loses all data.
 * @param survivesKill whether a commit survives a crash of the server
 * @throws Error if PostgreSQL is not installed or doesn't start
 */
export async function startPostgres({ survivesKill = false } = {}): Promise<TemporaryPostgres> {
  const programs = programFolder()
  // A database consists of several hundred files, which are copied much faster in memory.
  const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'bailiwick-postgres-'))
  const asPostgres = process.getuid?.() === 0 ? ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups', '--'] : []
  if (asPostgres.length > 0) chownSync(folder, ...idsOf('postgres'))
  const cluster = join(folder, 'cluster')
  const initdb = Bun.spawnSync(
    [
      ...asPostgres,
      join(programs, 'initdb'),
      '-D',
      cluster,
      '-U',
      'postgres',
      '-A',
      'trust',
      '-E',
      'UTF8',
      '--locale=C',
      '--no-sync',
    ],
    { cwd: folder },
  )
  if (initdb.exitCode !== 0) {
    rmSync(folder, { recursive: true, force: true })
    throw new Error(`initdb failed: ${initdb.stderr.toString()}`)
  }
  const port = await freePort()
  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: folder,
    fsync: 'off',
    synchronous_commit: survivesKill ? 'on' : 'off',
    full_page_writes: 'off',
    // Test worlds stay open, with their connections, until the end of the run.
    max_connections: '3000',
    shared_buffers: '64MB',
    autovacuum: 'off',
    // Otherwise the first five runs of a statement on each connection are planned again, which costs a quarter of the server’s time.
    plan_cache_mode: 'force_generic_plan',
    jit: 'off',
    wal_level: 'minimal',
    max_wal_senders: '0',
    log_min_messages: 'fatal',
  }
  const start = () =>
    Bun.spawn(
      [
        ...asPostgres,
        join(programs, 'postgres'),
        '-D',
        cluster,
        '-p',
        String(port),
        ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
      ],
      { cwd: folder, stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' },
    )
  let server = start()
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  const kill = async (signal: 'SIGQUIT' | 'SIGINT') => {
    server.kill(signal)
    await server.exited
  }
  const signalAll = (signal: 'STOP' | 'CONT') => {
    Bun.spawnSync(['pkill', `-${signal}`, '-P', String(server.pid)])
    server.kill(`SIG${signal}`)
  }
  const stop = async () => {
    // Immediate shutdown, because no data is kept.
    await kill('SIGQUIT')
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    await untilReady(url, () => server.exitCode !== null)
  } catch (error) {
    await stop()
    throw error
  }
  return {
    url,
    kill,
    freeze: () => signalAll('STOP'),
    thaw: () => signalAll('CONT'),
    restart: () => void (server = start()),
    stop,
  }
}

/** Debian installs the programs of each major version in a separate folder that is not on the PATH. */
function programFolder(): string {
  const debian = '/usr/lib/postgresql'
  let versions: string[] = []
  try {
    versions = readdirSync(debian)
      .filter(name => /^\d+$/.test(name))
      .sort((a, b) => Number(b) - Number(a))
  } catch {
    // Not Debian: search the PATH below.
  }
  if (versions[0]) return join(debian, versions[0], 'bin')
  const initdb = Bun.which('initdb')
  if (!initdb) throw new Error('PostgreSQL is not installed; on Debian: apt-get install postgresql')
  return join(initdb, '..')
}

function idsOf(user: string): [number, number] {
  const id = (flag: string) => Number(Bun.spawnSync(['id', flag, user]).stdout.toString())
  return [id('-u'), id('-g')]
}

async function untilReady(url: string, hasEnded: () => boolean): Promise<void> {
  const until = Date.now() + 30_000
  for (;;) {
    const sql = new SQL(url, { max: 1, connectionTimeout: 2 })
    try {
      await sql`select 1`
      return
    } catch (error) {
      if (hasEnded()) throw new Error('PostgreSQL exited during its start.')
      if (Date.now() > until) throw error
      await Bun.sleep(50)
    } finally {
      await sql.close()
    }
  }
}
