/** One value of a metric, with its labels in output order. */
export interface Sample {
  labels: Readonly<Record<string, string>>
  value: number
}

/** A gauge with all its values, which the format requires to be grouped together. */
export interface Gauge {
  name: string
  help: string
  samples: Iterable<Sample>
}

/** Yields gauges line by line in the Prometheus text format 0.0.4. Omits gauges without values. */
export function* exposition(gauges: Iterable<Gauge>): Generator<string> {
  for (const { name, help, samples } of gauges) {
    let hasHeader = false
    for (const { labels, value } of samples) {
      if (!hasHeader) yield `# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}\n# TYPE ${name} gauge\n`
      hasHeader = true
      yield `${name}${labelsOf(labels)} ${numberOf(value)}\n`
    }
  }
}

function labelsOf(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

const escaped = (value: string): string => value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')

/** Formats a number for Go's ParseFloat, as the format requires. */
const numberOf = (value: number): string =>
  Number.isNaN(value) ? 'NaN' : value === Infinity ? '+Inf' : value === -Infinity ? '-Inf' : String(value)
