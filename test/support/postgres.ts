import { chownSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SQL } from 'bun'
import { freePort } from './free-port'

/** A PostgreSQL server that lives for one test run, with nothing of it left afterwards. */
export interface ThrowAwayPostgres {
  /** Of a superuser, on loopback, without password. */
  url: string
  stop(): Promise<void>
}

/**
 * Starts a server on a free loopback port in a folder of its own. initdb refuses root, so as root it runs as the user `postgres`.
 * Nothing is flushed to disk: it is for speed, and a crash loses it.
 * @throws Error when PostgreSQL is not installed or does not come up
 */
export async function startPostgres(): Promise<ThrowAwayPostgres> {
  const programs = programFolder()
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-postgres-'))
  const asPostgres = process.getuid?.() === 0 ? ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups', '--'] : []
  if (asPostgres.length > 0) chownSync(folder, ...idsOf('postgres'))
  const cluster = join(folder, 'cluster')
  const made = Bun.spawnSync(
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
  if (made.exitCode !== 0) {
    rmSync(folder, { recursive: true, force: true })
    throw new Error(`initdb failed: ${made.stderr.toString()}`)
  }
  const port = await freePort()
  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: folder,
    fsync: 'off',
    synchronous_commit: 'off',
    full_page_writes: 'off',
    // Worlds that a file of tests shares stay open, with their connections, until the run has ended.
    max_connections: '3000',
    shared_buffers: '64MB',
    autovacuum: 'off',
    wal_level: 'minimal',
    max_wal_senders: '0',
    log_min_messages: 'fatal',
  }
  const server = Bun.spawn(
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
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  const stop = async () => {
    // Immediate shutdown: there is nothing to keep.
    server.kill('SIGQUIT')
    await server.exited
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    await untilReady(url, () => server.exitCode !== null)
  } catch (error) {
    await stop()
    throw error
  }
  return { url, stop }
}

/** Debian keeps the server's programs of each major version in a folder of its own, off the PATH. */
function programFolder(): string {
  const debian = '/usr/lib/postgresql'
  let versions: string[] = []
  try {
    versions = readdirSync(debian)
      .filter(name => /^\d+$/.test(name))
      .sort((a, b) => Number(b) - Number(a))
  } catch {
    // Not Debian: the PATH is asked below.
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
      if (hasEnded()) throw new Error('PostgreSQL ended while it started.')
      if (Date.now() > until) throw error
      await Bun.sleep(50)
    } finally {
      await sql.close()
    }
  }
}
