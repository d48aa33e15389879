import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { SQL } from 'bun'

/** Path of a program in dist/, which `bun run build` makes. */
export const program = (name: 'bailiwick' | 'bailiwick-agent' | 'bailiwick-probe'): string => resolve('dist', name)

/** How a finished command ended. */
export interface Ended {
  code: number
  out: string
  err: string
}

/** A folder and a database of one installation: SQLite in the folder, or a fresh database on the server BAILIWICK_DATABASE_URL names. */
export interface Installation extends AsyncDisposable {
  folder: string
  /** Environment that points the program here. Nothing of the tests' own BAILIWICK_ settings is passed on. */
  env: Record<string, string>
  /** Runs the program once with this installation's settings. */
  run(args: string[], options?: { env?: Record<string, string>; input?: string }): Promise<Ended>
}

export async function installation(): Promise<Installation> {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-e2e-'))
  const database = process.env.BAILIWICK_DATABASE_URL ? await freshDatabase(process.env.BAILIWICK_DATABASE_URL) : null
  const env: Record<string, string> = {
    ...withoutSettings(),
    BAILIWICK_DATA: join(folder, 'data'),
    BAILIWICK_DNS_LISTEN: '127.0.0.1:0',
  }
  mkdirSync(env.BAILIWICK_DATA!)
  if (database) {
    const key = join(folder, 'key')
    writeFileSync(key, `${Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64')}\n`, { mode: 0o600 })
    Object.assign(env, { BAILIWICK_DATABASE_URL: database.url, BAILIWICK_MASTER_KEY_FILE: key })
  }
  return {
    folder: env.BAILIWICK_DATA!,
    env,
    run: (args, options = {}) => runProgram('bailiwick', args, { env: { ...env, ...options.env }, input: options.input }),
    async [Symbol.asyncDispose]() {
      await database?.drop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Runs a program of dist/ to its end, at most half a minute. */
export async function runProgram(
  name: Parameters<typeof program>[0],
  args: string[],
  options: { env?: Record<string, string>; input?: string } = {},
): Promise<Ended> {
  const run = Bun.spawn([program(name), ...args], {
    env: options.env ?? withoutSettings(),
    cwd: tmpdir(),
    stdin: new Blob([options.input ?? '']),
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: 30_000,
  })
  const [out, err, code] = await Promise.all([new Response(run.stdout).text(), new Response(run.stderr).text(), run.exited])
  return { code, out, err }
}

/** A program of dist/ that runs. */
export interface Running {
  run: { pid: number; kill(signal?: NodeJS.Signals): void; exited: Promise<number> }
  /** What it printed so far. */
  said: { out: string; err: string }
  /** Sends a signal, SIGTERM unless told, and waits for the end of it and of what it prints; returns the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number>
}

/** Starts a program of dist/ and keeps what it prints. `onSaid` is called after each piece. */
export function startProgram(
  name: Parameters<typeof program>[0],
  args: string[],
  options: { env: Record<string, string>; cwd: string; onSaid?: () => void },
): Running {
  const run = Bun.spawn([program(name), ...args], {
    env: options.env,
    cwd: options.cwd,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const said = { out: '', err: '' }
  const collect = async (stream: ReadableStream<Uint8Array>, into: 'out' | 'err') => {
    const decoder = new TextDecoder()
    for await (const part of stream) {
      said[into] += decoder.decode(part, { stream: true })
      options.onSaid?.()
    }
  }
  const read = Promise.all([collect(run.stdout, 'out'), collect(run.stderr, 'err')])
  return {
    run,
    said,
    async stop(signal = 'SIGTERM') {
      run.kill(signal)
      const code = await run.exited
      await read
      return code
    },
  }
}

/** A hub that serves, from the compiled program. Disposing of it stops it. */
export interface HubProcess extends AsyncDisposable {
  url: string
  /** The port of its name server; 0 when it runs none. */
  dnsPort: number
  pid: number
  /** What it printed so far. */
  out(): string
  err(): string
  /** Sends a signal and waits for the end; returns the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number>
}

/** Starts a hub on a free loopback port and waits until it says that it serves. */
export async function startHub(
  of: Installation,
  options: { env?: Record<string, string>; args?: string[] } = {},
): Promise<HubProcess> {
  const ready = Promise.withResolvers<string>()
  const { run, said, stop } = startProgram('bailiwick', ['serve', '--listen', '127.0.0.1:0', ...(options.args ?? [])], {
    env: { ...of.env, ...options.env },
    cwd: tmpdir(),
    onSaid() {
      const address = /serves at (\S+)\n(?:[\s\S]*\n)?/.exec(said.out)?.[1]
      if (address) ready.resolve(address)
    },
  })
  void run.exited.then(code => ready.reject(new Error(`The hub ended with ${code} instead of serving: ${said.err}`)))
  const timer = setTimeout(() => {
    run.kill('SIGKILL')
    ready.reject(new Error('The hub did not serve within 20 seconds.'))
  }, 20_000)
  try {
    const url = await ready.promise
    return {
      url,
      dnsPort: Number(/^Answers DNS at \S+:(\d+)$/m.exec(said.out)?.[1] ?? 0),
      pid: run.pid,
      out: () => said.out,
      err: () => said.err,
      stop,
      async [Symbol.asyncDispose]() {
        await stop()
      },
    }
  } finally {
    clearTimeout(timer)
  }
}

/** A token of the operator's workspace that may do everything. */
export async function fullToken(of: Installation): Promise<string> {
  const { code, out, err } = await of.run(['token', 'create', '--name', 'test', '--full'])
  if (code !== 0) throw new Error(`No token was made: ${err}`)
  return out.trim()
}

/** Calls a hub with a token as a script would; a body is sent as JSON. */
export async function call(
  hub: { url: string },
  token: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<{ status: number; body: any; headers: Headers }> {
  const answer = await fetch(`${hub.url}${path}`, {
    method,
    headers: {
      ...(token && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  return {
    status: answer.status,
    body: /json/.test(answer.headers.get('content-type') ?? '') ? JSON.parse(text) : text,
    headers: answer.headers,
  }
}

/** Waits until `fn` gives something, looking twenty times a second. */
export async function until<T>(what: string, fn: () => Promise<T | null | undefined | false>, limitMs = 15_000): Promise<T> {
  const end = performance.now() + limitMs
  for (;;) {
    const found = await fn()
    if (found) return found
    if (performance.now() > end) throw new Error(`Not seen within ${limitMs} ms: ${what}`)
    await Bun.sleep(50)
  }
}

function withoutSettings(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name, value]) => value !== undefined && !/^(BAILIWICK_|BUN_)/.test(name)),
  ) as Record<string, string>
}

async function freshDatabase(server: string): Promise<{ url: string; drop(): Promise<void> }> {
  const name = `e2e_${process.pid}_${crypto.randomUUID().slice(0, 8)}`
  const admin = new SQL(server, { max: 1 })
  await admin.unsafe(`create database ${name}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  return {
    url: url.href,
    async drop() {
      await admin.unsafe(`drop database if exists ${name} with (force)`)
      await admin.close()
    },
  }
}
