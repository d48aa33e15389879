import manifest from '../../package.json'

/** Set by builds with another version, for tests of updates. */
declare const BUILD_VERSION: string | undefined

/** The version of Bailiwick (semver). */
export const version: string = typeof BUILD_VERSION === 'string' ? BUILD_VERSION : manifest.version
