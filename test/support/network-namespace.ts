/** A network of its own, with a loopback interface. It ends with this process. */
export class NetworkNamespace {
  private constructor(private readonly holder: Bun.Subprocess<'pipe', 'pipe', 'inherit'>) {}

  static async create(): Promise<NetworkNamespace> {
    const holder = Bun.spawn(
      ['setpriv', '--pdeathsig', 'KILL', 'unshare', '--net', 'sh', '-ec', 'ip link set lo up; echo; cat'],
      {
        stdin: 'pipe',
        stdout: 'pipe',
        stderr: 'inherit',
      },
    )
    // Once it prints something, it is in its namespace.
    await holder.stdout.getReader().read()
    return new NetworkNamespace(holder)
  }

  /** ID of a process in it. */
  get pid(): string {
    return String(this.holder.pid)
  }

  /** Runs a shell script in it. @returns the output @throws Error */
  run(script: string, input = ''): string {
    const { success, stdout, stderr } = Bun.spawnSync(['nsenter', '-t', this.pid, '-n', 'sh', '-ec', script], {
      stdin: new TextEncoder().encode(input),
    })
    if (!success) throw new Error(`${script}: ${stderr}`)
    return stdout.toString()
  }

  async end(): Promise<void> {
    this.holder.kill()
    await this.holder.exited
  }
}
