/** Checks the machine and Node that a release was built for; on another one, a sentence names the right release. */
import { readFile } from 'node:fs/promises'
import { OWN_FOLDER } from '../../core/own-files.ts'

/** `release.json` next to `dist/`; a source tree has none. */
export interface Release {
  version: string
  platform: string
  arch: string
  libc: Libc
  /** The release runs on every Node with this Node-API version or a newer one (`process.versions.napi`). */
  nodeApi: number
  /** Module version (`process.versions.modules`) → major version of older Nodes that the release also supports. */
  nodes: Record<string, number>
}
export type Libc = 'glibc' | 'musl'

/** The machine on which the program runs. */
export interface Machine extends Pick<Release, 'platform' | 'arch'> {
  libc: Libc | undefined
  node: string
  nodeApi: number
  modules: string
}

/** @throws a sentence */
export async function refuseOtherMachine(): Promise<void> {
  const text = await readFile(new URL('../release.json', OWN_FOLDER), 'utf8').catch(() => undefined)
  if (text === undefined) return
  const said = refusal(JSON.parse(text) as Release, thisMachine())
  if (said !== undefined) throw new Error(said)
}

/** The reason why a release does not run on a machine; undefined if it does. */
export function refusal(release: Release, machine: Machine): string | undefined {
  const { version, nodes } = release
  const isSame =
    release.platform === machine.platform &&
    release.arch === machine.arch &&
    (machine.libc === undefined || machine.libc === release.libc)
  if (!isSame)
    return `This is the release for ${nameOf(release)}, but this machine is ${nameOf(machine)}: install ${fileOf({ ...machine, version, libc: machine.libc ?? release.libc })} if there is one, or build from the sources with make run`
  if (machine.nodeApi >= release.nodeApi || machine.modules in nodes) return undefined
  const oldest = Math.min(...Object.values(nodes))
  return `This release runs on Node ${oldest}, and on Node 22 or newer, but this is Node ${machine.node}: install Node 24, or build from the sources with make run`
}

const nameOf = ({ platform, arch, libc }: Pick<Machine, 'platform' | 'arch' | 'libc'>): string =>
  [platform, arch, libc].filter(Boolean).join(' ')

/** `archivolt-1.0.0-linux-x64.tar.gz`; only musl is named. */
export const fileOf = ({ version, platform, arch, libc }: Omit<Release, 'nodes' | 'nodeApi'>): string =>
  `archivolt-${version}-${platform}-${arch}${libc === 'musl' ? '-musl' : ''}.tar.gz`

function thisMachine(): Machine {
  const { platform, arch, versions, report } = process
  const { header } = report.getReport() as { header: { glibcVersionRuntime?: string } }
  const libc = platform !== 'linux' ? undefined : header.glibcVersionRuntime === undefined ? 'musl' : 'glibc'
  return { platform, arch, libc, node: versions.node, nodeApi: Number(versions.napi), modules: versions.modules }
}
