/** One value of a metric, with its labels in the order in which they are written. */
export interface Sample {
  labels: Readonly<Record<string, string>>
  value: number
}

/** A gauge with all of its values, which the format wants to stand together. */
export interface Gauge {
  name: string
  help: string
  samples: Iterable<Sample>
}

/** Gauges in Prometheus’ text format 0.0.4, line by line; one without values is left out. */
export function* exposition(gauges: Iterable<Gauge>): Generator<string> {
  for (const { name, help, samples } of gauges) {
    let told = false
    for (const { labels, value } of samples) {
      if (!told) yield `# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}\n# TYPE ${name} gauge\n`
      told = true
      yield `${name}${labelsOf(labels)} ${numberOf(value)}\n`
    }
  }
}

function labelsOf(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

const escaped = (value: string): string => value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')

/** As Go's ParseFloat reads it, which is what the format asks for. */
const numberOf = (value: number): string =>
  Number.isNaN(value) ? 'NaN' : value === Infinity ? '+Inf' : value === -Infinity ? '-Inf' : String(value)
