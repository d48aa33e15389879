import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import type { StoredReport } from '../grades/report'

const pack = promisify(gzip)
const unpack = promisify(gunzip)

/** A report as it is stored: most of it are names of suites. */
export const packed = (report: StoredReport): Promise<Uint8Array> => pack(JSON.stringify(report))

export const unpacked = async (bytes: Uint8Array): Promise<StoredReport> =>
  JSON.parse((await unpack(bytes)).toString()) as StoredReport
