/**
 * How the programs that read media open files that strangers have made: as what they are, told by their content, and
 * nothing that names other files or addresses. A list, a script that joins files or a session description that calls
 * itself a film would otherwise have them read any file of this machine, or ask a server.
 */

/** Demuxers of films and of sound. None of them opens anything beside its own file. */
const FILM_FORMATS = 'mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,avi,flv,mpegts,mpeg,asf,ogg,m4v,h264,hevc,mp3,flac,aac,wav'
/** Demuxers of single pictures: an animation in a container of films is none. */
const PICTURE_FORMATS = 'jpeg_pipe,png_pipe,webp_pipe,gif,gif_pipe,bmp_pipe,tiff_pipe,jpegxl_pipe'

const only = (formats: string, protocol: 'file' | 'pipe', url: string): string[] => [
  ...['-protocol_whitelist', protocol],
  ...['-format_whitelist', formats],
  ...['-i', url],
]

/** A film, or sound, by its absolute path. */
export const filmInput = (path: string): string[] => only(FILM_FORMATS, 'file', `file:${path}`)
/** What is known to be of this one kind, by its absolute path: a text has no content to tell it by. */
export const inputOf = (format: 'srt' | 'jpeg_pipe', path: string): string[] => [
  ...['-f', format],
  ...only(format, 'file', `file:${path}`),
]
/** All that belongs to a download: films, pictures, texts, tags. */
export const DOWNLOADED_FORMATS = `${FILM_FORMATS},${PICTURE_FORMATS},image2,webvtt,srt,ass,ffmetadata`
/** A picture that is written into the child: not even its own name is known to it. */
export const pipedPictureInput = (): string[] => only(PICTURE_FORMATS, 'pipe', 'pipe:0')
