/** One measured value, such as `{ name: 'deliveries', value: 2140.5, unit: '1/s' }`. */
export interface Figure {
  name: string
  value: number
  unit: string
}

/** The results of a benchmark. `notes` describe the conditions. */
export interface Report {
  figures: Figure[]
  notes?: string[]
}

/** A numeric option of a benchmark. */
export interface BenchOption {
  name: string
  /** Shown in the help. */
  description: string
  default: number
  /** 1 if not set. */
  min?: number
}

/** A benchmark: `bailiwick bench <name>`. */
export interface Bench {
  /** One word in lower case. */
  name: string
  /** Shown in the help. */
  summary: string
  options: readonly BenchOption[]
  /** A file that it reads: an option, which is required unless only some parts need it. */
  file?: { name: string; description: string; isOptional?: boolean }
  /** Names of the parts that can be run alone. */
  parts?: readonly string[]
  /** @param args value or default of every option, by name. @param parts the ones to run. @param file path of the file */
  run(args: Readonly<Record<string, number>>, parts: readonly string[], file?: string): Promise<Report>
}
