/** Plugins that this server was started without: what needs them is not shown. */

const names = document.querySelector<HTMLMetaElement>('meta[name="archivolt-left-out"]')?.content.split(' ') ?? []

export const isThere = (plugin: string): boolean => !names.includes(plugin)
