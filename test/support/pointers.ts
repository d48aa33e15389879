/** The status of a response, and the parameters and fields that its errors name. */
export const pointers = (response: { status: number; body: any }) => [
  response.status,
  response.body.errors?.map((one: any) => one.pointer),
]
