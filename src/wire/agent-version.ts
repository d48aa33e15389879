/** Versions of agents (semver), which are also names of folders. */
const pattern = /^\d{1,9}\.\d{1,9}\.\d{1,9}(?:-[0-9A-Za-z.-]{1,30})?(?:\+[0-9A-Za-z.-]{1,30})?$/

/** A program of the agent has at most this many bytes. */
export const maxAgentBytes = 1024 * 1024 * 1024
/** It is downloaded in pieces of at most this many bytes when it is updated, so that this takes little memory, and a broken connection costs little. */
export const pieceBytes = 4 * 1024 * 1024

/** Precedes the version in each program of the agent, so that it is known without running it, also for other platforms: like what(1). */
export const programMark = '@(#)bailiwick-agent '

export const isVersion = (text: unknown): text is string => typeof text === 'string' && pattern.test(text)

/** Whether a version comes after another one. False if one of them has another form. */
export const isNewerVersion = (version: string, other: string): boolean =>
  isVersion(version) && isVersion(other) && Bun.semver.order(version, other) > 0
