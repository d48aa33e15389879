/** One measured value, such as `{ name: 'deliveries', value: 2140.5, unit: '1/s' }`. */
export interface Figure {
  name: string
  value: number
  unit: string
}

/** What a bench measured. `notes` say under which conditions, in plain sentences. */
export interface Report {
  figures: Figure[]
  notes?: string[]
}

/** An option of a bench, as the help shows it: a whole number from 1, unless `least` says otherwise, with a default. */
export interface BenchOption {
  name: string
  meaning: string
  default: number
  least?: number
}

/** A measurement that ships with the program: `bailiwick bench <name>`. It prints figures and judges nothing. */
export interface Bench {
  /** One word in lower case. */
  name: string
  /** One line for the help. */
  summary: string
  options: readonly BenchOption[]
  /** @param args every option by name, as given or its default */
  run(args: Readonly<Record<string, number>>): Promise<Report>
}
