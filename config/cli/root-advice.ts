/** The advice of a start that runs as root, which is unnecessary. In containers, root usually has no rights outside. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Files that Docker, Podman and Kubernetes create in each container. */
const CONTAINER_MARKS = ['.dockerenv', 'run/.containerenv', 'run/secrets/kubernetes.io']
/** The mapping without a user namespace: users are those of the machine. */
const ALL_USERS = /^\s*0\s+0\s+4294967295\s*$/

/**
 * @param uid   of this process; undefined if the system has no user ids
 * @param root  of the file system
 * @returns undefined for another user, or inside a container
 */
export function adviceForRoot(dataDir: string, uid = process.getuid?.(), root = '/'): string | undefined {
  if (uid !== 0 || isContained(root)) return undefined
  return `Archivolt runs as root and does not need to. To run it as a user of its own: useradd --system archivolt; chown -R archivolt ${dataDir}; sudo -u archivolt archivolt start (the library must belong to that user too)`
}

function isContained(root: string): boolean {
  if (CONTAINER_MARKS.some((name) => existsSync(join(root, name)))) return true
  const users = join(root, 'proc/self/uid_map')
  return existsSync(users) && !ALL_USERS.test(readFileSync(users, 'utf8'))
}
