/** Redacts heartbeat UUIDs and ingest tokens in paths. */
export function redactPath(path: string): string {
  return path
    .replace(/[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}/g, '[secret]')
    .replace(/\bbw_[a-z]+_[A-Za-z0-9]+/g, '[secret]')
    .replace(/^(\/ping\/)[A-Za-z0-9_-]{22}(?=\/|$)/, '$1[secret]')
    .replace(/^(\/ack\/)[^/]+/, '$1[secret]')
    .replace(/^(\/+update\/[^/]*\/)[^/]+/, '$1[secret]')
}
