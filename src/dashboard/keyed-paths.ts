/** Paths of the API where a POST request can spend money, so that it needs an idempotency key. */
export const keyedPaths: readonly string[] = ['/servers', '/volumes']
