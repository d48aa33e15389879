import type { RegistrarDouble } from './registrar-double'

/** Calls an account while the API responds with a body, and returns the failure; `null` or `a result` without one. */
export async function failureOfBody(double: RegistrarDouble, body: unknown, call: () => Promise<unknown>): Promise<string> {
  double.fault = () => ({ raw: { status: 200, body: JSON.stringify(body) } })
  try {
    return (await call()) === null ? 'null' : 'a result'
  } catch (error) {
    return (error as { failure: string }).failure
  } finally {
    double.fault = () => null
  }
}
