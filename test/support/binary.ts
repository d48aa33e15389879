import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { SQL } from 'bun'

/** Path of a program in dist/, created by `bun run build`. */
export const program = (name: 'bailiwick' | 'bailiwick-agent' | 'bailiwick-probe'): string => resolve('dist', name)

/** The result of a command. */
export interface CommandResult {
  code: number
  out: string
  err: string
}

/** The folder and database of an installation: SQLite in the folder, or a new database on a PostgreSQL server. */
export interface Installation extends AsyncDisposable {
  folder: string
  /** Environment with the settings of this installation, and none of the tests’ own BAILIWICK_ settings. */
  env: Record<string, string>
  /** Runs a command with the settings of this installation. */
  run(args: string[], options?: { env?: Record<string, string>; input?: string }): Promise<CommandResult>
}

export async function installation(server = process.env.BAILIWICK_DATABASE_URL): Promise<Installation> {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-e2e-'))
  const database = server ? await freshDatabase(server) : null
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

/** Runs a program of dist/ until it exits, for at most 2 minutes. */
export async function runProgram(
  name: Parameters<typeof program>[0],
  args: string[],
  options: { env?: Record<string, string>; input?: string } = {},
): Promise<CommandResult> {
  const run = Bun.spawn([program(name), ...args], {
    env: options.env ?? withoutSettings(),
    cwd: tmpdir(),
    stdin: new Blob([options.input ?? '']),
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: 120_000,
  })
  const [out, err, code] = await Promise.all([new Response(run.stdout).text(), new Response(run.stderr).text(), run.exited])
  return { code, out, err }
}

/** A running program of dist/. */
export interface RunningProgram {
  run: { pid: number; kill(signal?: NodeJS.Signals): void; exited: Promise<number> }
  /** Its output so far. */
  output: { out: string; err: string }
  /** Sends a signal (SIGTERM by default) and waits for the exit and all output. @returns the exit code */
  stop(signal?: NodeJS.Signals): Promise<number>
}

/** Starts a program of dist/ and collects its output. `onOutput` is called after each chunk. */
export function startProgram(
  name: Parameters<typeof program>[0],
  args: string[],
  options: { env: Record<string, string>; cwd: string; onOutput?: () => void; file?: string },
): RunningProgram {
  const run = Bun.spawn([options.file ?? program(name), ...args], {
    env: options.env,
    cwd: options.cwd,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const output = { out: '', err: '' }
  const collect = async (stream: ReadableStream<Uint8Array>, into: 'out' | 'err') => {
    const decoder = new TextDecoder()
    for await (const part of stream) {
      output[into] += decoder.decode(part, { stream: true })
      options.onOutput?.()
    }
  }
  const collected = Promise.all([collect(run.stdout, 'out'), collect(run.stderr, 'err')])
  return {
    run,
    output,
    async stop(signal = 'SIGTERM') {
      run.kill(signal)
      const code = await run.exited
      await collected
      return code
    },
  }
}

/** A running hub of the compiled program. Disposing it stops the hub. */
export interface HubProcess extends AsyncDisposable {
  url: string
  /** Port of the name server; 0 if it is disabled. */
  dnsPort: number
  pid: number
  /** Standard output so far. */
  out(): string
  /** Standard error so far. */
  err(): string
  /** Sends a signal and waits for the exit. @returns the exit code */
  stop(signal?: NodeJS.Signals): Promise<number>
}

/** Starts a hub on a free loopback port and waits until it is running. */
export async function startHub(
  { env }: Installation,
  options: { env?: Record<string, string>; args?: string[]; program?: string } = {},
): Promise<HubProcess> {
  const ready = Promise.withResolvers<string>()
  const { run, output, stop } = startProgram('bailiwick', ['serve', '--listen', '127.0.0.1:0', ...(options.args ?? [])], {
    env: { ...env, ...options.env },
    cwd: tmpdir(),
    file: options.program,
    onOutput() {
      const address = /is running at (\S+)\n(?:[\s\S]*\n)?/.exec(output.out)?.[1]
      if (address) ready.resolve(address)
    },
  })
  void run.exited.then(code => ready.reject(new Error(`The hub exited with ${code}: ${output.err}`)))
  const timer = setTimeout(() => {
    run.kill('SIGKILL')
    ready.reject(new Error('The hub did not start within 3 minutes.'))
  }, 180_000)
  try {
    const url = await ready.promise
    return {
      url,
      dnsPort: Number(/^The name server is listening on \S+:(\d+)$/m.exec(output.out)?.[1] ?? 0),
      pid: run.pid,
      out: () => output.out,
      err: () => output.err,
      stop,
      async [Symbol.asyncDispose]() {
        await stop()
      },
    }
  } finally {
    clearTimeout(timer)
  }
}

/** Creates a token with full access to the workspace of the operator. */
export async function fullToken(here: Installation): Promise<string> {
  const { code, out, err } = await here.run(['token', 'create', '--name', 'test', '--full'])
  if (code !== 0) throw new Error(`No token was created: ${err}`)
  return out.trim()
}

/** Calls the API of a hub with a token. The body is sent as JSON. */
export async function call(
  hub: { url: string },
  token: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<{ status: number; body: any; headers: Headers }> {
  const response = await fetch(`${hub.url}${path}`, {
    method,
    headers: {
      ...(token && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return {
    status: response.status,
    body: /json/.test(response.headers.get('content-type') ?? '') ? JSON.parse(text) : text,
    headers: response.headers,
  }
}

/** Waits until `fn` returns a truthy value. Calls it every 50 ms. */
export async function until<T>(what: string, fn: () => Promise<T | null | undefined | false>, limitMs = 60_000): Promise<T> {
  const end = performance.now() + limitMs
  for (;;) {
    const found = await fn()
    if (found) return found
    if (performance.now() > end) throw new Error(`Timed out after ${limitMs} ms, waiting for: ${what}`)
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
