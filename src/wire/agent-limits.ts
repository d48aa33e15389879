/** Limits of reports, apart from the shapes, so that the agent imports no validator. Requests with more are refused. */

/** A report has at most this many columns. */
export const maxColumns = 300
/** A report has at most this many minutes. */
export const maxMinutes = 60
/** Size of a report, compressed and not. */
export const maxReportBytes = { compressed: 256 * 1024, decompressed: 4 * 1024 * 1024 }
