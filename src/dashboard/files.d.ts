// Files of the API reference that are embedded as they are. Each is imported `with { type: 'text' }` or, the large ones,
// `with { type: 'file' }` as the path to read them from: inside the compiled program too.
declare module '*/swagger-ui-bundle.js' {
  const path: string
  export default path
}
declare module '*/swagger-ui.css' {
  const path: string
  export default path
}
declare module '*/swagger-start.js' {
  const text: string
  export default text
}
declare module '*.css' {
  const text: string
  export default text
}
// A page of the handbook, taken along as text by Vite.
declare module '*.md?raw' {
  const text: string
  export default text
}
