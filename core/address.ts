/** Decides which client addresses count as one where something is limited by address. */
import { isIPv6 } from 'node:net'

/**
 * An IPv4 address as it is; an IPv6 address as its /64, for whoever has one address of it has them all.
 * @param address  as a socket or a proxy names it: with a zone, a port or brackets, or an IPv4 address within IPv6
 */
export function clientOf(address: string): string {
  const plain = address
    .replace(/^\[([^\]]*)\](:\d+)?$/, '$1')
    .replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1')
    .replace(/%.*$/s, '')
    .replace(/^::ffff:(?=\d+\.)/i, '')
  if (!isIPv6(plain)) return plain
  // A URL writes every form of an address in one way.
  const [left = '', right] = new URL(`http://[${plain}]`).hostname.slice(1, -1).split('::')
  const [head, tail] = [left, right ?? ''].map((half) => (half === '' ? [] : half.split(':'))) as [string[], string[]]
  const zeros = Array<string>(8 - head.length - tail.length).fill('0')
  return `${[...head, ...(right === undefined ? [] : zeros), ...tail].slice(0, 4).join(':')}::/64`
}
