import manifest from '../../package.json'

/** The version of Bailiwick (semver). */
export const version: string = manifest.version
