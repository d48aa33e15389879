import { started } from './started'

/** A blackbox_exporter of this machine. */
export interface Blackbox {
  /** Probes a target by a module of its configuration. @returns values by the name of the metric with its labels, as printed */
  probe(module: string, target: string): Promise<Map<string, number>>
  stop(): Promise<void>
}

/** @param modules HTTP probes by name: what stands below `http` in its configuration */
export async function startBlackbox(modules: Record<string, object>): Promise<Blackbox> {
  const configuration = {
    modules: Object.fromEntries(
      Object.entries(modules).map(([name, http]) => [
        name,
        { prober: 'http', timeout: '20s', http: { preferred_ip_protocol: 'ip4', ...http } },
      ]),
    ),
  }
  const server = await started(1, (folder, [port]) => ({
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
