/** What we use of npm's own comparer of versions, which ships no types. */
declare module 'semver' {
  /** Whether a version is within a range, such as `^1.2.0`; no range at all: it is not. */
  export function satisfies(version: string, range: string): boolean
}
