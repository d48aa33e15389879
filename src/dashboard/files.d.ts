// Files of the API reference that are embedded unchanged. They are imported `with { type: 'text' }`, or if large
// `with { type: 'file' }`, which gives a path that is also readable in the compiled program.
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

declare module '*/handbook.js' {
  const text: string
  export default text
}
declare module '*.css' {
  const text: string
  export default text
}
// A handbook page, bundled as text by Vite.
declare module '*.md?raw' {
  const text: string
  export default text
}
