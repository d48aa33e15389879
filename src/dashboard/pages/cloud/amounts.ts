/** “€4.51”, in the format of the viewer’s language. */
export const formatAmount = (amount: string | number, currency: string | null): string =>
  currency === null
    ? String(amount)
    : new Intl.NumberFormat(undefined, { style: 'currency', currency, maximumFractionDigits: 2 }).format(Number(amount))

const gibibyte = 2 ** 30

/** “4 GiB”, “512 MiB” */
export const formatGibibytes = (bytes: number): string =>
  bytes < gibibyte
    ? `${Math.round(bytes / 2 ** 20).toLocaleString()} MiB`
    : `${(bytes / gibibyte).toLocaleString(undefined, { maximumFractionDigits: 1 })} GiB`

interface Resources {
  cores: number | null
  memory_bytes: number | null
  disk_bytes: number | null
}

/** “2 cores, 4 GiB memory, 40 GiB disk” */
export const describeResources = ({ cores, memory_bytes: memory, disk_bytes: disk }: Resources): string =>
  [
    cores !== null && `${cores} ${cores === 1 ? 'core' : 'cores'}`,
    memory !== null && `${formatGibibytes(memory)} memory`,
    disk !== null && `${formatGibibytes(disk)} disk`,
  ]
    .filter(Boolean)
    .join(', ')
