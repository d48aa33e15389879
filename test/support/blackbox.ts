import { startServer } from './server-process'

/** A local blackbox_exporter. */
export interface Blackbox {
  /** Probes a target with a configured module. @returns values by metric name with labels, as printed */
  probe(module: string, target: string): Promise<Map<string, number>>
  stop(): Promise<void>
}

/** @param modules HTTP probes by name: the content of `http` in the configuration */
export async function startBlackbox(modules: Record<string, object>): Promise<Blackbox> {
  const configuration = {
    modules: Object.fromEntries(
      Object.entries(modules).map(([name, http]) => [
        name,
        { prober: 'http', timeout: '20s', http: { preferred_ip_protocol: 'ip4', ...http } },
      ]),
    ),
  }
  const server = await startServer(1, (folder, [port]) => ({
    command: [
      '/usr/bin/prometheus-blackbox-exporter',
      `--config.file=${folder}/blackbox.yml`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=error',
    ],
    // JSON is YAML.
    files: { 'blackbox.yml': JSON.stringify(configuration) },
  }))
  return {
    stop: server.stop,
    async probe(module, target) {
      const query = new URLSearchParams({ module, target })
      const answer = await fetch(`http://127.0.0.1:${server.ports[0]}/probe?${query}`)
      const text = await answer.text()
      if (!answer.ok) throw new Error(text)
      const lines = [...text.matchAll(/^(probe_\S+(?: [^{}]*\})?) (\S+)$/gm)]
      return new Map(lines.map(([, name, value]) => [name!, Number(value)]))
    },
  }
}
