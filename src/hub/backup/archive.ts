import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib'
import { extract, pack } from 'tar-stream'
import { BackupDamaged } from './errors'
import { manifestName, parseManifest, type Manifest } from './manifest'

/** A file to add to an archive. */
interface Source {
  name: string
  file: string
  bytes: number
}

/** Writes a new archive, with the manifest first, and syncs it to disk. @param report is called with the bytes read so far */
export async function writeArchive(
  file: string,
  manifest: Manifest,
  sources: readonly Source[],
  report: (bytes: number) => void,
): Promise<void> {
  const archive = pack()
  // With a checksum, so that any change is found.
  const zstd = createZstdCompress({ params: { [constants.ZSTD_c_checksumFlag]: 1 } })
  const written = pipeline(archive as never, zstd, createWriteStream(file, { flags: 'wx', mode: 0o600 }))
  const filled = (async () => {
    archive.entry({ name: manifestName, mode: 0o600 }, `${JSON.stringify(manifest, null, 2)}\n`)
    let done = 0
    for (const { name, file: source, bytes } of sources) {
      const entry = archive.entry({ name, size: bytes, mode: 0o600 })
      // Also reported by the pipeline.
      entry.on('error', () => {})
      for await (const chunk of createReadStream(source, { highWaterMark: 1 << 18 }) as AsyncIterable<Buffer>) {
        if (!entry.write(chunk)) await new Promise<void>(resume => entry.once('drain', resume))
        report((done += chunk.length))
      }
      entry.end(null)
    }
    archive.finalize()
  })()
  // If the disk is full, the archive no longer asks for data, and filling it never ends.
  await Promise.race([written, filled.then(() => written)])
  await syncToDisk(file)
}

/** Waits until a file, or the names in a folder, are on disk. */
export async function syncToDisk(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Consumes the content of a file in an archive. */
export type Consume = (name: string, content: AsyncIterable<Uint8Array>) => Promise<void>

/** Reads only the manifest. @throws BackupDamaged */
export async function readManifest(file: string): Promise<Manifest> {
  for await (const { name, content } of entriesOf(file)) return await manifestOf(file, name, content)
  throw new BackupDamaged(file, 'it is empty')
}

/**
 * Reads a whole archive, and checks that it has exactly the files of its manifest, with the same content.
 * @param start receives the manifest, and returns what consumes the other files
 * @throws BackupDamaged
 */
export async function readArchive(file: string, start: (manifest: Manifest) => Promise<Consume>): Promise<Manifest> {
  let manifest: Manifest | null = null
  let consume: Consume = async () => {}
  const read = new Set<string>()
  for await (const { name, content } of entriesOf(file)) {
    if (!manifest) {
      manifest = await manifestOf(file, name, content)
      consume = await start(manifest)
      continue
    }
    const expected = manifest.files.find(one => one.name === name)
    if (!expected || read.has(name)) throw new BackupDamaged(file, `it contains ${name}, which its manifest doesn't list`)
    read.add(name)
    const hash = createHash('sha256')
    let bytes = 0
    await consume(name, limited(file, name, counted(content), expected.bytes))
    if (bytes !== expected.bytes || hash.digest('hex') !== expected.sha256)
      throw new BackupDamaged(file, `the checksum of ${name} doesn't match`)
    async function* counted(chunks: AsyncIterable<Uint8Array>) {
      for await (const chunk of chunks) {
        hash.update(chunk)
        bytes += chunk.length
        yield chunk
      }
    }
  }
  if (!manifest) throw new BackupDamaged(file, 'it is empty')
  const missing = manifest.files.find(one => !read.has(one.name))
  if (missing) throw new BackupDamaged(file, `it is incomplete: ${missing.name} is missing`)
  return manifest
}

const maxManifestBytes = 16 * 2 ** 20

/** @throws BackupDamaged if the content is larger: the file could otherwise fill the disk or the memory */
async function* limited(file: string, name: string, content: AsyncIterable<Uint8Array>, maxBytes: number) {
  let bytes = 0
  for await (const chunk of content) {
    if ((bytes += chunk.length) > maxBytes) throw new BackupDamaged(file, `${name} is larger than ${maxBytes} bytes`)
    yield chunk
  }
}

async function manifestOf(file: string, name: string, content: AsyncIterable<Uint8Array>): Promise<Manifest> {
  if (name !== manifestName) throw new BackupDamaged(file, 'it has no manifest')
  const chunks: Uint8Array[] = []
  for await (const chunk of limited(file, name, content, maxManifestBytes)) chunks.push(chunk)
  return parseManifest(file, Buffer.concat(chunks).toString('utf8'))
}

async function* entriesOf(file: string): AsyncGenerator<{ name: string; content: AsyncIterable<Uint8Array> }> {
  const input = createReadStream(file, { highWaterMark: 1 << 18 })
  const archive = extract()
  let failure: unknown = null
  const done = pipeline(input, createZstdDecompress(), archive as never).catch(error => {
    failure = error
  })
  try {
    for await (const entry of archive)
      yield { name: entry.header.name, content: contentOf(entry as AsyncIterable<unknown> as never) }
    await done
  } catch (error) {
    await done
    throw failureOf(failure ?? error)
  } finally {
    input.destroy()
  }
  if (failure) throw failureOf(failure)

  async function* contentOf(entry: AsyncIterable<Uint8Array>) {
    try {
      yield* entry
    } catch (error) {
      await done
      throw failureOf(failure ?? error)
    }
  }
  /** Errors of the stream mean damage, unless the file couldn't be read. */
  function failureOf(error: unknown): unknown {
    const { code, message } = error as NodeJS.ErrnoException
    if (error instanceof BackupDamaged || (typeof code === 'string' && /^E[A-Z]+$/.test(code))) return error
    return new BackupDamaged(file, message)
  }
}
