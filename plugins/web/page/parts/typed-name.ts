/** What has to be typed before files are lost: the name, or the id where a name cannot be typed. */

const TYPEABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]{1,80}$/u

/** Names from outside hold characters that nobody sees, and blanks that browsers fold. */
export function typedFor(name: string, id: string): string {
  const own = name.trim()
  return TYPEABLE.test(own) && !own.includes('  ') ? own : id
}
