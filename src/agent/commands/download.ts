import { closeSync, fdatasyncSync, openSync, statfsSync, statSync, writeFileSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Clock } from '../../core/clock'
import { retryAfterMs } from '../../core/net/retry-after'
import { pieceBytes } from '../../wire/agent-version'
import { pauseMs } from '../transport/back-off'
import { digestFile } from '../root/folders'
import { readRegularFile } from '../state/read-file'
import { fetchHub, HubUnreachable, type HubAddress } from '../transport/hub-fetch'

/** A file to download. */
interface Download {
  /** On the hub. */
  path: string
  /** In bytes. */
  size: number
  /** SHA-256 of the content. The download of a file with the same one that was interrupted is continued. */
  sha256: string
  /** Where it is stored. */
  to: string
  /** Until when it is tried (ms UTC, by the server). */
  until: number
}

/** Why a file could not be downloaded. The message is a sentence. */
class DownloadFailed extends Error {
  override readonly name = 'DownloadFailed'
}

/** After a failure, pieces are smaller, so that they arrive in time over slow connections. */
const leastPieceBytes = 256 * 1024
const pieceMs = 60_000
/** So much of the disk must stay free. */
const reserveBytes = 64 * 1024 * 1024
/** Root must still have time to verify the command (ms). */
const marginMs = 15_000

/** Downloads a file from the hub, and tries again if the hub can’t be reached. What it contains is not verified. @throws DownloadFailed */
export async function download(
  { address, timers, random }: { address: HubAddress; timers: Clock; random: () => number },
  { path, size, sha256, to, until }: Download,
): Promise<void> {
  const from = storedBytes(to, size, sha256)
  const { bavail, bsize } = statfsSync(dirname(to))
  if (bavail * bsize < size - from + reserveBytes)
    throw new DownloadFailed(
      `The new version can’t be stored in ${to}: it needs ${Math.ceil((size - from) / 2 ** 20)} MiB, and ${reserveBytes / 2 ** 20} MiB must stay free.`,
    )
  const file = stored(to, () => openSync(to, from > 0 ? 'r+' : 'w', 0o600))
  try {
    if (from === 0) stored(to, () => writeFileSync(digestFile(to), sha256))
    let failures = 0
    let most = pieceBytes
    for (let at = from; at < size;) {
      if (timers.now() > until - marginMs)
        throw new DownloadFailed(
          `The new version could not be downloaded in time: ${Math.floor((100 * at) / size)} % of it were.`,
        )
      const end = Math.min(at + most, size)
      const got = await piece(address, path, at, end, timers.now())
      if (got instanceof Uint8Array) {
        for (let done = 0; done < got.byteLength;)
          done += stored(to, () => writeSync(file, got, done, got.byteLength - done, at + done))
        // Otherwise, pieces that are not collected and pages that are not written yet can exceed the memory limit of the service.
        stored(to, () => fdatasyncSync(file))
        Bun.gc(true)
        at = end
        failures = 0
        continue
      }
      most = Math.max(leastPieceBytes, most / 2)
      const pause = pauseMs(++failures, random, got.retryAfterMs)
      if (timers.now() + pause > until - marginMs)
        throw new DownloadFailed(`The new version could not be downloaded in time. ${got.reason}`)
      await new Promise<void>(resolve => timers.after(pause, resolve))
    }
  } finally {
    closeSync(file)
  }
}

/** How many bytes of the file an interrupted download has stored. None if it is complete: then it has been used, or is damaged. */
function storedBytes(to: string, size: number, sha256: string): number {
  try {
    const stored = String(readRegularFile(digestFile(to))) === sha256 ? statSync(to).size : 0
    return stored < size ? stored - (stored % leastPieceBytes) : 0
  } catch {
    return 0
  }
}

/** @returns why it can be tried again, unless it succeeds @throws DownloadFailed */
async function piece(
  address: HubAddress,
  path: string,
  from: number,
  end: number,
  now: number,
): Promise<Uint8Array | { reason: string; retryAfterMs: number | null }> {
  try {
    const { status, headers, body } = await fetchHub(address, {
      ...{ method: 'GET', path, headers: { Range: `bytes=${from}-${end - 1}` }, body: null },
      ...{ waitMs: pieceMs, maxBodyBytes: pieceBytes },
    })
    if (status === 206 && body.byteLength === end - from) return body
    const reason = `The hub responded with status ${status}.`
    if (status === 429 || status >= 500) return { reason, retryAfterMs: retryAfterMs(headers.get('retry-after') ?? '', now) }
    throw new DownloadFailed(`The new version can’t be downloaded. ${reason}`)
  } catch (error) {
    if (error instanceof HubUnreachable) return { reason: error.message, retryAfterMs: null }
    throw error
  }
}

/** @throws DownloadFailed */
function stored<T>(path: string, write: () => T): T {
  try {
    return write()
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const reason = code === 'ENOSPC' ? 'the disk is full' : message
    throw new DownloadFailed(`The new version can’t be stored in ${path}: ${reason}.`)
  }
}
