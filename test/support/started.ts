import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './free-port'

/** A program of somebody else that listens on ports of this machine. */
export interface Started {
  folder: string
  ports: number[]
  stop(): Promise<void>
}

const tries = 3

/**
 * Starts a server in a folder of its own on free ports, and waits until it takes connections on all of them.
 * @param files gives what is in the folder, by name, and the command
 */
export async function started(
  howMany: number,
  files: (folder: string, ports: number[]) => { command: string[]; files: Record<string, string> },
): Promise<Started> {
  for (let at = 1; ; at++) {
    try {
      return await once(howMany, files)
    } catch (error) {
      // Somebody else may have taken a port meanwhile.
      if (at === tries) throw error
    }
  }
}

async function once(howMany: number, prepare: Parameters<typeof started>[1]): Promise<Started> {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-real-'))
  const ports: number[] = []
  while (ports.length < howMany) {
    const port = await freePort()
    if (!ports.includes(port)) ports.push(port)
  }
  const { command, files } = prepare(folder, ports)
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  const run = Bun.spawn(command, { cwd: folder, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  const said = Promise.all([new Response(run.stdout).text(), new Response(run.stderr).text()])
  const stop = async () => {
    run.kill('SIGTERM')
    const late = setTimeout(() => run.kill('SIGKILL'), 5000)
    await run.exited
    clearTimeout(late)
    rmSync(folder, { recursive: true, force: true })
  }
  for (let at = 0; at < 300 && run.exitCode === null; at++) {
    if ((await Promise.all(ports.map(listens))).every(Boolean)) return { folder, ports, stop }
    await Bun.sleep(50)
  }
  await stop()
  throw new Error(`${command[0]} did not start: ${(await said).join('\n')}`)
}

async function listens(port: number): Promise<boolean> {
  try {
    const socket = await Bun.connect({ hostname: '127.0.0.1', port, socket: { data() {} } })
    socket.terminate()
    return true
  } catch {
    return false
  }
}
