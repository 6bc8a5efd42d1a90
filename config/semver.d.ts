/** The part that we use of npm's own package for comparing versions, which has no types. */
declare module 'semver' {
  /** Whether a version is within a range, such as `^1.2.0`; false for an invalid range. */
  export function satisfies(version: string, range: string): boolean
}
