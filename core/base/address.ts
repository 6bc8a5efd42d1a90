/** Decides which client addresses count as one client in limits by address. */
import { isIPv6 } from 'node:net'

/** An IPv6 address counts as its /64, all of which its owner has. @param address  may have zone, port, brackets */
export function clientOf(address: string): string {
  const plain = address
    .replace(/^\[([^\]]*)\](:\d+)?$/, '$1')
    .replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1')
    .replace(/%.*$/s, '')
    .replace(/^::ffff:(?=\d+\.)/i, '')
  if (!isIPv6(plain)) return plain
  // The URL parser normalises every notation of an address.
  const [left = '', right] = new URL(`http://[${plain}]`).hostname.slice(1, -1).split('::')
  const [head, tail] = [left, right ?? ''].map((half) => (half === '' ? [] : half.split(':'))) as [string[], string[]]
  const zeros = Array<string>(8 - head.length - tail.length).fill('0')
  return `${[...head, ...(right === undefined ? [] : zeros), ...tail].slice(0, 4).join(':')}::/64`
}
