/* The status of a file as the kernel model writes it: `struct stat`, with the names that musl reads. */
struct kstat {
  dev_t st_dev;
  int dev_padding;
  long ino_truncated;
  mode_t st_mode;
  nlink_t st_nlink;
  uid_t st_uid;
  gid_t st_gid;
  dev_t st_rdev;
  int rdev_padding;
  off_t st_size;
  blksize_t st_blksize;
  blkcnt_t st_blocks;
  long times32[6];
  ino_t st_ino;
  time_t st_atime_sec;
  long st_atime_nsec;
  int atime_padding;
  time_t st_mtime_sec;
  long st_mtime_nsec;
  int mtime_padding;
  time_t st_ctime_sec;
  long st_ctime_nsec;
  int ctime_padding;
};
