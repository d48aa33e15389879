import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './free-port'

/** A third-party server that listens on local ports. */
export interface ServerProcess {
  folder: string
  ports: number[]
  stop(): Promise<void>
}

const maxAttempts = 3

/**
 * Starts a server with its own folder on free ports, and waits until it accepts connections on all of them.
 * @param prepare returns the command and the files of the folder by name
 */
export async function startServer(
  portCount: number,
  prepare: (folder: string, ports: number[]) => { command: string[]; files: Record<string, string> },
): Promise<ServerProcess> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await tryStart(portCount, prepare)
    } catch (error) {
      // Another process may use one of the ports by now.
      if (attempt === maxAttempts) throw error
    }
  }
}

async function tryStart(portCount: number, prepare: Parameters<typeof startServer>[1]): Promise<ServerProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-real-'))
  const ports: number[] = []
  while (ports.length < portCount) {
    const port = await freePort()
    if (!ports.includes(port)) ports.push(port)
  }
  const { command, files } = prepare(folder, ports)
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  const run = Bun.spawn(command, { cwd: folder, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  const output = Promise.all([new Response(run.stdout).text(), new Response(run.stderr).text()])
  const stop = async () => {
    run.kill('SIGTERM')
    const timer = setTimeout(() => run.kill('SIGKILL'), 5000)
    await run.exited
    clearTimeout(timer)
    rmSync(folder, { recursive: true, force: true })
  }
  for (let attempt = 0; attempt < 300 && run.exitCode === null; attempt++) {
    if ((await Promise.all(ports.map(isListening))).every(Boolean)) return { folder, ports, stop }
    await Bun.sleep(50)
  }
  await stop()
  throw new Error(`${command[0]} did not start: ${(await output).join('\n')}`)
}

async function isListening(port: number): Promise<boolean> {
  try {
    const socket = await Bun.connect({ hostname: '127.0.0.1', port, socket: { data() {} } })
    socket.terminate()
    return true
  } catch {
    return false
  }
}
