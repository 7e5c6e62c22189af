// SPDX-License-Identifier: MIT OR Apache-2.0

//! A machine without a device. The test is a process of its own, as the environment is read once.
#![cfg(target_os = "linux")]

use std::process::Command;

use hashloom_gpu::{Device, Error};

/// Tells the child process that it is one.
const CHILD: &str = "HASHLOOM_GPU_TEST_CHILD";

#[test]
fn no_driver_is_a_clear_message() {
    if std::env::var_os(CHILD).is_some() {
        let error = Device::open(None).unwrap_err();
        assert_eq!(error, Error::NotFound { wanted: None, found: vec![] });
        assert_eq!(error.to_string(), "no GPU was found: a driver for Vulkan, Metal or DX12 is needed");
        assert!(hashloom_gpu::adapters().is_empty());
        return;
    }
    let this = std::env::current_exe().unwrap();
    let status = Command::new(this)
        .env(CHILD, "1")
        .env("VK_DRIVER_FILES", "/nonexistent")
        .env("VK_ICD_FILENAMES", "/nonexistent")
        .status()
        .unwrap();
    assert!(status.success());
}
