import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** The file system of a server that a test makes up, in a temporary folder. */
export class MachineFiles {
  readonly folder: string = mkdtempSync(join(tmpdir(), 'bailiwick-machine-'))

  /** Writes files by path. Texts that start with `→ ` become symbolic links. */
  write(files: Readonly<Record<string, string>>): this {
    for (const [path, text] of Object.entries(files)) {
      const file = join(this.folder, path)
      mkdirSync(dirname(file), { recursive: true })
      rmSync(file, { force: true })
      if (text.startsWith('→ ')) symlinkSync(text.slice(2), file)
      else writeFileSync(file, text)
    }
    return this
  }

  remove(path: string): void {
    rmSync(join(this.folder, path), { recursive: true, force: true })
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}
