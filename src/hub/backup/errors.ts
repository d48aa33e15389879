/** A backup can't be made, read, or restored for a known reason. The message says what to do. */
export class BackupFailed extends Error {
  override name = 'BackupFailed'
}

/** Explains that the disk of a folder is full; other errors stay as they are. @param advice how to solve it */
export function explainFullDisk(error: unknown, folder: string, advice: string): unknown {
  const { code } = error as { code?: unknown }
  if (code !== 'SQLITE_FULL' && code !== 'ENOSPC' && code !== 'EDQUOT') return error
  return new BackupFailed(`The disk of ${folder} is full. ${advice}`)
}

/** A backup was truncated or changed, or the file is not a backup. */
export class BackupDamaged extends BackupFailed {
  override name = 'BackupDamaged'
  constructor(file: string, reason: string) {
    super(`${file} is damaged or not a backup: ${reason}.`)
  }
}
